import type { Database } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import { contextOf, type NodeLane, type NodeLanes, type Recorder, type WorkContext } from '../lanes/index.ts';
import type { RecordOutcome } from '../providers/index.ts';
import type { Accepted, Acceptor } from './accept.ts';
import { takeBack, takeTurn } from './turn.ts';
import { defaultRetryPolicy } from './next-step.ts';
import { settleSynchronous, unknownOutcome, type Settlement } from './settle.ts';
import { acceptUnder, underWayIn } from './stray.ts';
import type { Answer, EarlierUse, Intake, WorkItem } from './work.ts';

/** Sends a synchronous write. Called once, after the mark is committed. */
export type Send = (operationId: string, context: WorkContext) => Promise<readonly RecordOutcome[]>;

/** What the caller will get, to be kept with the idempotency key in the transaction that records the outcome. Pure. */
export type AnswerOf = (operationId: string, outcomes: readonly RecordOutcome[]) => Answer;

export interface Performed {
  operationId: string;
  outcomes: readonly RecordOutcome[];
  /** False when the ledger could not take the outcome: its node lost the lane, or the database is away. */
  recorded: boolean;
  /** Nothing was sent now: the key of the intake stands for this. There are no outcomes then. */
  earlier?: EarlierUse;
}

interface PerformDeps {
  database: Database;
  acceptor: Acceptor;
  nodeLanes: NodeLanes;
  recorder: Recorder<Settlement>;
  leaseMs: number;
  waitForTurnMs: number;
  /** Aborted when the process gives up waiting. */
  closing: AbortSignal;
}

/** The caller of a synchronous write waits this long for its record; the recording goes on behind its back. */
const waitForRecordMs = 5_000;
const laneAttempts = 3;

/**
 * Accept already marked, send, record: two commits in all. A write that stands behind another of its record
 * is marked when its turn comes.
 */
export async function performMarked(
  deps: PerformDeps,
  intake: Intake,
  send: Send,
  answerOf?: AnswerOf,
): Promise<Performed> {
  const { lane, accepted } = await acceptUnderNodeLane(deps, intake);
  const { operationId, earlier } = accepted;
  if (earlier) return { operationId, outcomes: [], recorded: false, earlier };
  const { key } = intake;
  const accepting = { lane, seq: accepted.seq, operationId, key };
  if (accepted.waits) await takeTurn(deps.database, accepting, deps.waitForTurnMs, deps.closing);
  const context = contextOf(lane, AbortSignal.any([lane.cut.signal, deps.closing]), deps.leaseMs);
  if (!context.mayStillSend()) {
    await takeBack(deps.database, accepting);
    throw unsent('the acceptance took longer than the lease of this node');
  }
  const outcomes = await send(operationId, context).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return intake.records.map(() => unknownOutcome(`the attempt broke off: ${reason}`));
  });
  const ours = faultOfOurs(outcomes);
  if (ours) {
    await takeBack(deps.database, accepting);
    throw unsent(ours);
  }
  const item = itemOf(intake, lane, accepted);
  const settlement = settleSynchronous(item, { kind: 'outcomes', outcomes }, defaultRetryPolicy);
  // While something is still to be found out, the key has no answer: a repetition gets what is known by then.
  if (key && answerOf && settlement.done) {
    settlement.answer = { key, ...answerOf(operationId, outcomes) };
  }
  const recording = deps.recorder.record(settlement, deps.closing).then(
    (kept) => {
      underWayIn(lane).operations.delete(operationId);
      return kept;
    },
    () => false,
  );
  if (!settlement.done) void recording.then((kept) => kept && deps.nodeLanes.leave(lane));
  const recorded = await Promise.race([recording, sleep(waitForRecordMs).then(() => false)]);
  return { operationId, outcomes, recorded };
}

/** What kept us from sending any of it, for the moment: no outcome of the write, and no answer that a key may keep. */
function faultOfOurs(outcomes: readonly RecordOutcome[]): string | undefined {
  const faults = outcomes.map((outcome) =>
    outcome.kind === 'notApplied' && outcome.failure.category === 'internal' && outcome.failure.retryable
      ? outcome.failure
      : undefined,
  );
  // What no master key opens stays so until somebody acts, and is told with its operation.
  const [first] = faults;
  return faults.every((fault) => fault && !fault.unreadable) ? first?.message : undefined;
}

function unsent(why: string): Error {
  return problem('database-unavailable', { detail: `Nothing was sent: ${why}.`, retryAfterSeconds: 1 });
}

async function acceptUnderNodeLane(
  deps: PerformDeps,
  intake: Intake,
): Promise<{ lane: NodeLane; accepted: NonNullable<Accepted> }> {
  for (let attempt = 1; attempt <= laneAttempts; attempt++) {
    const lane = await deps.nodeLanes.of(intake.projectId);
    const operationId = newId();
    const accepted = await acceptUnder(underWayIn(lane), operationId, intake.key, () =>
      deps.acceptor.accept({ ...intake, laneId: lane.id }, lane.lease, operationId),
    );
    if (accepted) return { lane, accepted };
    deps.nodeLanes.abandon(lane);
  }
  throw problem('database-unavailable', {
    detail: 'This node could not keep its lease.',
    retryAfterSeconds: 1,
  });
}

function itemOf(intake: Intake, lane: NodeLane, accepted: { operationId: string; seq: string }): WorkItem {
  return {
    ...intake,
    kind: intake.actionType,
    ref: accepted.operationId,
    isOfNode: true,
    operationId: accepted.operationId,
    seq: accepted.seq,
    lease: lane.lease,
    laneId: lane.id,
    records: intake.records.map((payload, index) => ({ index, payload })),
    attempt: 1,
    expired: false,
    acceptedAt: Date.now(),
    remainingMs: intake.deadlineSeconds * 1_000,
    total: intake.records.length,
    tally: { succeeded: 0, failed: 0, unknown: 0, errors: [] },
    earlier: new Map(),
    unreadBytes: 0,
  };
}
