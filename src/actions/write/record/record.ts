import { sleep } from '../../../kit/retry.ts';
import type { NodeLanes, Recorder } from '../../../lanes/index.ts';
import type { Settlement } from '../../../operations/index.ts';
import type { RecordOutcome } from '../../../providers/index.ts';
import type { MarkedWrite } from '../accept/accept.ts';
import { defaultRetryPolicy } from './next-step.ts';
import { settleSynchronous } from './settle.ts';
import { underWayIn } from '../accept/stray.ts';

/** Of a node, what a record needs. */
export interface Recording {
  lanes: Pick<NodeLanes, 'leave'>;
  recorder: Recorder<Settlement>;
  /** Aborted when the process gives up waiting. */
  closing: AbortSignal;
}

/** The caller waits this long for the record of its write. */
const waitForRecordMs = 5_000;

/**
 * Records what became of a synchronous write, with its answer. Resolves with whether it was recorded in the time that a caller
 * waits; the recording goes on behind its back.
 */
export async function recordMarked(
  { recorder, lanes, closing }: Recording,
  { item, lane }: MarkedWrite,
  outcomes: readonly RecordOutcome[],
  answer: () => Settlement['answer'] | undefined,
): Promise<boolean> {
  const settlement = settleSynchronous(item, { kind: 'outcomes', outcomes }, defaultRetryPolicy);
  // While something is still to be found out, the key has no answer: a repetition gets what is known by then.
  const known = settlement.done ? answer() : undefined;
  if (known) settlement.answer = known;
  const recording = recorder.record(settlement, closing).then(
    (kept) => {
      underWayIn(lane).operations.delete(item.operationId);
      return kept;
    },
    () => false,
  );
  // Also where it was not kept: only the answer to a first try may have been lost.
  if (!settlement.done) void recording.then(() => lanes.leave(lane));
  return Promise.race([recording, sleep(waitForRecordMs).then(() => false)]);
}
