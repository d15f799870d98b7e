import type { Database } from '../../../kit/db/database.ts';
import { isDatabaseAway } from '../../../kit/db/faults.ts';
import { settledAfter } from '../../../kit/db/in-time.ts';
import { problem, type Problem } from '../../../kit/problem.ts';
import { sleep } from '../../../kit/retry.ts';
import { markInTurn, type NodeLane } from '../../../lanes/index.ts';
import { withdraw, type ParkedWrite } from '../../../operations/index.ts';
import { underWayIn } from './stray.ts';

const firstPauseMs = 15;
const longestPauseMs = 250;

type WaitingWrite = ParkedWrite & { lane: NodeLane };

/**
 * Waits until everything accepted earlier of the write's record has ended, and marks it as started. When that takes too long,
 * or the lane is lost, the acceptance is taken back and this rejects, with nothing sent.
 */
export async function takeTurn(
  database: Database,
  parked: WaitingWrite,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + waitMs;
  let fault: Error | undefined;
  for (let pauseMs = firstPauseMs; performance.now() < endsAt && !signal.aborted;) {
    await sleep(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    try {
      if (await markInTurn(database, parked.lane, parked.seq)) return;
      fault = undefined;
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
    }
  }
  const open = await takeBack(database, parked);
  if (open) throw open;
  if (fault && !isDatabaseAway(fault)) throw fault;
  throw fault
    ? problem('database-unavailable', { cause: fault })
    : problem('record-busy', { retryAfterSeconds: 5 });
}

/**
 * As if it had never been accepted; its key is free. What fails here is ended unsent with the next renewal of the lane, as
 * nothing that this node does, or found out about by the node that has the lane by then. A caller with a key finds it by that; one
 * without would write a second time, and is told of the operation.
 */
export async function takeBack(database: Database, parked: WaitingWrite): Promise<Problem | undefined> {
  const { lane, operationId, key } = parked;
  const isGone = await withdraw(database, parked).catch(() => {
    if (key) underWayIn(lane).toldAgain.set(operationId, key);
    return false;
  });
  underWayIn(lane).operations.delete(operationId);
  if (isGone) return undefined;
  return key ? leftUnderKey() : leftOpen(operationId);
}

function leftUnderKey(): Problem {
  return problem('database-unavailable', {
    detail:
      'Nothing was sent from here, but the write could not be taken back. The same request with the same Idempotency-Key finds what became of it.',
    retryAfterSeconds: 1,
  });
}

function leftOpen(operationId: string): Problem {
  return problem('outcome-unknown', {
    detail:
      'Nothing was sent from here, but the write could not be taken back: its operation tells what becomes of it.',
    remedy: `Once other writes are accepted again, wait ${settledAfter} and look whether the operation is there: if not, nothing was accepted, and the write may be sent again. If it is, and failed unsent, POST …/operations/{id}:retry writes it.`,
    retryable: false,
    extra: { operationId, category: 'unknownOutcome' },
  });
}
