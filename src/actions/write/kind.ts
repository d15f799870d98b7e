import type { RegisteredKind } from '../../lanes/index.ts';
import { ledgerKind } from '../../operations/index.ts';
import { openBatches } from './auto-batch/store.ts';
import { writeHandler, type WriteDeps } from './perform.ts';

/** Queued writes, and the batches that become such. */
export function writeKind(deps: WriteDeps): RegisteredKind {
  return ledgerKind('write', deps.operations.ends, writeHandler(deps), { gathers: openBatches });
}
