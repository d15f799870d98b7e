import type { Heard, WorkContext } from '../../../lanes/index.ts';
import type { WorkItem } from '../../../operations/index.ts';
import type { RecordOutcome } from '../../../providers/index.ts';

/** Sends queued writes. Never throws for what the provider does; what it throws counts as an unknown outcome. */
export interface Sender {
  send(item: WorkItem, context: WorkContext): Promise<ItemResult>;
  /**
   * Finds out what became of an item whose attempt was cut off by the death of its node; without it that stays unknown. Sends
   * nothing: what may be sent again is so in its outcomes, and the next attempt does it.
   */
  findOut?(item: WorkItem, context: WorkContext): Promise<ItemResult>;
}

/** What is said of one item. The outcomes stand in the order of its records. `heard` is missing when nobody was called. */
export type ItemResult = { heard?: Heard | undefined } & Ending;

type Ending =
  | { kind: 'outcomes'; outcomes: readonly RecordOutcome[] }
  /** Nothing was sent; the item waits, and no attempt is counted. */
  | { kind: 'postponed'; inMs: number }
  /** Nothing was sent; the whole lane waits, and no attempt is counted. */
  | { kind: 'throttled'; inMs: number };
