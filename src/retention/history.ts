import type { Eraser } from '../kit/db/erasing.ts';
import type { PartitionedTable } from '../kit/db/partitions.ts';
import type { HistoryKind } from './schema.ts';

/** Tables of a room that grow with what happens, under one name. */
export interface History {
  kind: HistoryKind;
  /** Empty: what is erased with a group, and is no history. */
  tables: readonly PartitionedTable[];
  /** How long the operator keeps them. */
  keepDays: number;
  /** Missing for what proves the rest. */
  erase?: Eraser;
}
