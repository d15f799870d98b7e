import type { Ground } from '../../../kit/ground.ts';
import { problem, type Problem } from '../../../kit/problem.ts';
import { sleep } from '../../../kit/retry.ts';
import { createBytes, createNodeLanes, createRecorder, type WorkContext } from '../../../lanes/index.ts';
import type { Answer, EarlierUse, Operations, Settlement, WorkItem } from '../../../operations/index.ts';
import type { RecordOutcome } from '../../../providers/index.ts';
import { acceptMarked, takeBackUnsent, type Accepting, type MarkedIntake } from '../accept/accept.ts';
import { plainer } from '../record/plainer.ts';
import { recordMarked, type Recording } from '../record/record.ts';
import { brokeOff } from '../record/settle.ts';
import { endStray } from '../accept/stray.ts';
import { weigh } from './weight.ts';

/** Sends a synchronous write. Called once, after the mark is committed. */
export type Send = (item: WorkItem, context: WorkContext) => Promise<readonly RecordOutcome[]>;

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

/** The synchronous writes of this node. */
export interface SynchronousWrites {
  /**
   * Commits the write as started, sends it once, and records what became of it. It waits a while for those of
   * its record that were accepted before. Rejects, with nothing sent, when there is no room for it, or it could not be committed or has no turn; never
   * rejects for what `send` does. `answerOf` is asked once, if the intake has a key.
   */
  perform: (intake: MarkedIntake, send: Send, answerOf?: AnswerOf) => Promise<Performed>;
  /** Waits for what is being accepted and sent, then aborts it; gives this node's lanes back. */
  close(deadlineMs?: number): Promise<void>;
}

export interface SynchronousOptions {
  /** How long this node's own lane holds without renewal. */
  leaseMs?: number;
  /** How long a write waits for those of its record that were accepted before it. */
  waitForTurnMs?: number;
  /** Of the records of writes under way. */
  bytesInFlight?: number;
}

const defaultLeaseMs = 60_000;
const defaultWaitForTurnMs = 10_000;
const defaultBytesInFlight = 128 * 1024 * 1024;
/** For recording what was aborted at the deadline of a close. */
const graceMs = 1_500;

/** What the writes of a node share. */
type Node = Accepting & Recording;

export function createSynchronousWrites(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  operations: Operations,
  {
    leaseMs = defaultLeaseMs,
    waitForTurnMs = defaultWaitForTurnMs,
    bytesInFlight = defaultBytesInFlight,
  }: SynchronousOptions = {},
): SynchronousWrites {
  const { ends } = operations;
  const lookAfter = endStray.bind(undefined, { database, log, ends });
  const lanes = createNodeLanes({ database, log, leaseMs, lookAfter });
  const recorder = createRecorder<Settlement>({ database, log }, { ...ends, less: plainer });
  const closing = new AbortController();
  const node = { database, operations, lanes, recorder, leaseMs, waitForTurnMs, closing: closing.signal };
  const performing = new Set<Promise<unknown>>();
  const bytes = createBytes(bytesInFlight);
  return {
    async perform(intake, send, answerOf) {
      const reserved = bytes.tryReserve(shareOf(intake), weigh(intake.records));
      if (!reserved) throw noRoom();
      const performed = perform(node, intake, send, answerOf).finally(() => reserved.release());
      const settled = performed.catch(() => undefined).finally(() => performing.delete(settled));
      performing.add(settled);
      return performed;
    },
    async close(deadlineMs = 10_000) {
      const timer = setTimeout(() => closing.abort(), deadlineMs);
      const over = new AbortController();
      await Promise.race([
        Promise.all(performing).then(() => recorder.drain()),
        sleep(deadlineMs + graceMs, over.signal),
      ]);
      over.abort();
      clearTimeout(timer);
      await lanes
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'this node’s lanes were not given back'));
    },
  };
}

/** Whoever is slow to answer one installation leaves room for others of the provider, of the project and of the node. */
function shareOf({ projectId, installationId, request }: MarkedIntake): string[] {
  return [projectId, `${projectId} ${String(request.provider)}`, installationId];
}

function noRoom(): Problem {
  return problem('overloaded', {
    detail: 'The synchronous writes under way fill the memory that this node has for them; nothing was done.',
    retryAfterSeconds: 2,
  });
}

/** Accept, send, record: two commits in all. */
async function perform(
  node: Node,
  intake: MarkedIntake,
  send: Send,
  answerOf: AnswerOf | undefined,
): Promise<Performed> {
  const accepted = await acceptMarked(node, intake);
  if ('earlier' in accepted) {
    const { earlier } = accepted;
    return { operationId: earlier.operationId, outcomes: [], recorded: false, earlier };
  }
  const { item, context } = accepted;
  const { operationId } = item;
  const outcomes = await send(item, context).catch((error: unknown) =>
    intake.records.map(() => brokeOff(error)),
  );
  const ours = faultOfOurs(outcomes);
  if (ours) throw await takeBackUnsent(node, intake, accepted, ours);
  const { key } = intake;
  const recorded = await recordMarked(node, accepted, outcomes, () =>
    key && answerOf ? { key, ...answerOf(operationId, outcomes) } : undefined,
  );
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
