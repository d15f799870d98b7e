import { timeOfId } from '../../kit/ids.ts';
import {
  unknownOutcome,
  type Failure,
  type ObjectDescription,
  type RecordOutcome,
} from '../../providers/index.ts';
import { executeWrite, type WriteContext, type WriteJob } from './execute.ts';
import type { PlannedRecord } from './plan.ts';
import { readBack, type LostRecord } from './read-back.ts';
import { afterVerdict, maySendAgain, type Verdict } from './resolve.ts';

/** A job with what holds for its lost answers. */
export type AttemptJob = WriteJob & { onUnknown?: 'fail' | 'retry' };

/** The records of one attempt, and how the attempt before ended for them, by slot. */
export interface AttemptRecords {
  operationId: string;
  records: readonly PlannedRecord[];
  earlier: ReadonlyMap<number, Failure>;
}

export interface AttemptContext extends WriteContext {
  describe(): Promise<{ object: ObjectDescription } | { failure: Failure }>;
  signal: AbortSignal;
  /** How often a read-back that fails is made in all. */
  tries: number;
  /** How long to look for lost records at most, in milliseconds. */
  patienceMs?: number;
}

/** Nodes may disagree about the time by so much: an operation's id carries the time of the one that accepted it. */
const clockMarginMs = 1_000;

/**
 * One attempt. A create that an earlier attempt may have done is looked for before it is sent again; one whose answer is
 * lost now is looked for at once. Updates and deletes by id are simply repeated: they leave the same state (reliability 1.2).
 */
export async function attemptWrite(
  job: AttemptJob,
  { operationId, records, earlier }: AttemptRecords,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  if (job.kind !== 'create') return executeWrite(job, records, context);
  const acceptedAt = timeOfId(operationId) - clockMarginMs;
  const outcomes = await lookForEarlier(job, records, earlier, acceptedAt, context);
  const toSend = [...records.keys()].filter((slot) => maySend(outcomes.get(slot)));
  const startedAt = Date.now();
  const sent = await executeWrite(
    job,
    toSend.map((slot) => records[slot] as PlannedRecord),
    context,
  );
  // What an attempt before lost may have been done late, when nobody looked any more.
  const marks = new Map(
    toSend.map((slot) => [slot, markOf(outcomes.get(slot)) ?? earlier.get(slot)?.lookedUpBy]),
  );
  toSend.forEach((slot, i) => outcomes.set(slot, marked(sent[i] as RecordOutcome, marks.get(slot))));
  const lost = toSend.filter((slot) => isLost(outcomes.get(slot), marks.get(slot) !== undefined));
  const verdicts = await look(
    job,
    lost.map((slot) => ({
      record: records[slot] as PlannedRecord,
      startedAt: marks.get(slot) === undefined ? startedAt : acceptedAt,
    })),
    context,
    [...outcomes.values()],
  );
  lost.forEach((slot, i) => {
    outcomes.set(
      slot,
      afterVerdict(outcomes.get(slot) as RecordOutcome, verdicts[i] ?? 'later', job.onUnknown),
    );
  });
  return records.map((_, slot) => outcomes.get(slot) as RecordOutcome);
}

/** What became of an attempt whose node stopped before the outcome was recorded. Nothing is sent. */
export async function resolveStopped(
  job: AttemptJob,
  { operationId, records }: Omit<AttemptRecords, 'earlier'>,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  const stopped = stoppedOutcome(job);
  if (job.kind !== 'create') return records.map(() => stopped);
  const startedAt = timeOfId(operationId) - clockMarginMs;
  const verdicts = await look(
    job,
    records.map((record) => ({ record, startedAt })),
    context,
    [],
  );
  return verdicts.map((verdict) => afterVerdict(stopped, verdict, job.onUnknown));
}

/** The same where the provider cannot be asked, for want of a connection; for now, or for good. */
export function unknownForAll(
  job: AttemptJob,
  records: readonly PlannedRecord[],
  { retryable }: Failure,
): RecordOutcome[] {
  const stopped = stoppedOutcome(job);
  const isCreate = job.kind === 'create';
  return records.map(() => (isCreate ? afterVerdict(stopped, retryable ? 'later' : 'untellable') : stopped));
}

function stoppedOutcome({ kind }: AttemptJob): RecordOutcome {
  const why = 'the lease of the node that sent it ended before the answer was recorded';
  return { kind: 'unknown', failure: unknownOutcome(why, kind !== 'create') };
}

async function lookForEarlier(
  job: AttemptJob,
  records: readonly PlannedRecord[],
  earlier: ReadonlyMap<number, Failure>,
  acceptedAt: number,
  context: AttemptContext,
): Promise<Map<number, RecordOutcome>> {
  const lost = [...earlier].filter(([, failure]) => failure.category === 'unknownOutcome');
  const verdicts = await look(
    job,
    lost.map(([slot]) => ({ record: records[slot] as PlannedRecord, startedAt: acceptedAt })),
    context,
    [],
  );
  return new Map(
    lost.map(([slot, { pending: _pending, ...failure }], i) => [
      slot,
      afterVerdict({ kind: 'unknown', failure }, verdicts[i] ?? 'later', job.onUnknown),
    ]),
  );
}

function look(
  job: AttemptJob,
  lost: readonly LostRecord[],
  { patienceMs, ...context }: AttemptContext,
  known: readonly RecordOutcome[],
): Promise<Verdict[]> {
  if (lost.length === 0) return Promise.resolve([]);
  const signal =
    patienceMs === undefined
      ? context.signal
      : AbortSignal.any([context.signal, AbortSignal.timeout(patienceMs)]);
  const claimed = known.flatMap((one) =>
    one.kind === 'applied' && one.recordId !== undefined ? [one.recordId] : [],
  );
  return readBack(job.objectName, lost, { ...context, signal, claimed });
}

function maySend(known: RecordOutcome | undefined): boolean {
  return known === undefined || maySendAgain(known);
}

/** A refusal for a record that stands there already may be about the very record that an earlier attempt made. */
function isLost(outcome: RecordOutcome | undefined, isMarked: boolean): boolean {
  if (outcome?.kind === 'unknown') return true;
  return isMarked && outcome?.kind === 'notApplied' && outcome.failure.category === 'conflict';
}

function markOf(outcome: RecordOutcome | undefined): string | undefined {
  return outcome && outcome.kind !== 'applied' ? outcome.failure.lookedUpBy : undefined;
}

function marked(outcome: RecordOutcome, mark: string | undefined): RecordOutcome {
  if (mark === undefined || outcome.kind !== 'notApplied') return outcome;
  return { kind: 'notApplied', failure: { ...outcome.failure, lookedUpBy: mark } };
}
