import { unknownOutcome, type Failure, type RecordOutcome } from '../../../providers/index.ts';
import { afterUpsert, attemptUpsert, repeatStopped } from './attempt-upsert.ts';
import type { AttemptContext, AttemptJob, AttemptRecords } from './job.ts';
import { executeWrite } from './execute.ts';
import { isOneCall } from './one-call.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { readBack, type LostRecord } from './read-back.ts';
import {
  afterVerdict,
  isSurelyAbsent,
  leftUnknown,
  maySendAgain,
  notThisTime,
  oneFate,
  quietMsOf,
  verdictOf,
  type Course,
  type Verdict,
} from './resolve.ts';

export type { AttemptContext, AttemptJob, AttemptRecords };

/**
 * One attempt. A create that an earlier attempt may have done is looked for before it is sent again; one whose answer is
 * lost now is looked for at once. Updates and deletes by id are simply repeated: they leave the same state (docs/invariants.md, 15).
 */
export async function attemptWrite(
  job: AttemptJob,
  { acceptedAt, records, earlier }: AttemptRecords,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  if (job.kind === 'upsert') return attemptUpsert(job, { records, earlier }, context);
  if (job.kind !== 'create') return executeWrite(job, records, context);
  const before = await lookForEarlier(job, records, earlier, acceptedAt, context);
  const outcomes = new Map(before.settled);
  const toSend = [...records.keys()].filter((slot) => !outcomes.has(slot));
  const startedAt = Date.now();
  const sent = await executeWrite(job, recordsAt(toSend, records), context);
  // What an attempt before lost may have been done late, when nobody looked any more.
  const markOf = (slot: number): string | undefined =>
    before.absent.get(slot)?.by ?? earlier.get(slot)?.lookedUpBy;
  const course = courseOf(job, context);
  const reopened = new Set<number>();
  toSend.forEach((slot, i) => {
    const outcome = sent[i] as RecordOutcome;
    const isSure = before.absent.get(slot)?.surely ?? !before.open.has(slot);
    const open = isSure ? undefined : stillOpen(outcome, markOf(slot), course);
    if (open) reopened.add(slot);
    outcomes.set(slot, open ?? marked(outcome, markOf(slot)));
  });
  const lost = toSend.filter(
    (slot) => !reopened.has(slot) && isLost(outcomes.get(slot), markOf(slot) !== undefined),
  );
  // The record may be that of an attempt before, also where nothing could tell of that.
  const isFirst = (slot: number): boolean => markOf(slot) === undefined && !before.open.has(slot);
  const verdicts = await look(
    job,
    lost.map((slot) => ({
      record: records[slot] as PlannedRecord,
      startedAt: isFirst(slot) ? startedAt : acceptedAt,
      quiet: false,
    })),
    { ...context, twice: true },
    [...outcomes.values()],
  );
  lost.forEach((slot, i) => {
    outcomes.set(slot, afterVerdict(outcomes.get(slot) as RecordOutcome, verdicts[i] ?? 'later', course));
  });
  return records.map((_, slot) => outcomes.get(slot) as RecordOutcome);
}

/**
 * What became of an attempt whose node stopped before the outcome was recorded, or which the provider could not be asked
 * about. Nothing is sent, except for upserts. Of a synchronous write, nothing was sent after its one attempt either.
 */
export async function resolveStopped(
  job: AttemptJob,
  { acceptedAt, ...given }: AttemptRecords,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  const { records, earlier } = given;
  const stopped = stoppedOutcome(job);
  if (job.kind === 'upsert') return repeatStopped(job, given, stopped, context);
  if (job.kind !== 'create') return records.map(() => stopped);
  const isQuiet = (slot: number): boolean => job.mode === 'synchronous' && earlier.get(slot)?.quiet === true;
  const verdicts = await look(
    job,
    records.map((record, slot) => ({ record, startedAt: acceptedAt, quiet: isQuiet(slot) })),
    { ...context, twice: true },
    [],
  );
  const course = courseOf(job, context);
  return verdicts.map((verdict, slot) => afterVerdict(leftOpen(job, earlier.get(slot)), verdict, course));
}

/**
 * The same where the provider cannot be asked, for want of a connection; for now, or for good. Whether it admits the value of an upsert
 * only once is not known then.
 */
export function unknownForAll(
  job: AttemptJob,
  { records, earlier }: Pick<AttemptRecords, 'records' | 'earlier'>,
  failure: Failure,
  quietMs: number,
): RecordOutcome[] {
  const stopped = stoppedOutcome(job);
  if (job.kind === 'upsert' && failure.gone) return records.map(() => endedBy(stopped, failure));
  if (job.kind === 'upsert')
    return records.map((_, slot) => afterUpsert(stopped, earlier.get(slot), quietMs));
  if (job.kind !== 'create') return records.map(() => stopped);
  const course = { ...job, quietMs: 0 };
  return records.map((_, slot) => afterVerdict(leftOpen(job, earlier.get(slot)), verdictOf(failure), course));
}

/** Of an attempt that was not made since the credentials no longer work: what an earlier one may have created is looked for once they do. */
export function unsentForAll(
  job: AttemptJob,
  { records, earlier }: Pick<AttemptRecords, 'records' | 'earlier'>,
  failure: Failure,
): RecordOutcome[] {
  const verdict = verdictOf(failure);
  return records.map((_, slot) => {
    const before = earlier.get(slot);
    const isShut = typeof verdict === 'object' && 'shut' in verdict;
    return isShut && job.kind === 'create' && before?.category === 'unknownOutcome'
      ? afterVerdict(leftUnknown(before), verdict, { ...job, quietMs: 0 })
      : { kind: 'notApplied', failure };
  });
}

function courseOf(job: AttemptJob, { connector, lateEffectMs }: AttemptContext): Course {
  return { ...job, quietMs: quietMsOf(connector, lateEffectMs) };
}

function stoppedOutcome({ kind }: AttemptJob): RecordOutcome {
  const why =
    'its node ended, or the database was restored, before an answer was recorded; it may have been sent';
  return { kind: 'unknown', failure: unknownOutcome(why, kind !== 'create') };
}

/** What stopped cannot be sent again, so that its outcome stays unknown. */
function endedBy(stopped: RecordOutcome, { message }: Failure): RecordOutcome {
  if (stopped.kind !== 'unknown') return stopped;
  const failure = { ...stopped.failure, message: `${stopped.failure.message}; ${message}` };
  return { kind: 'unknown', failure: { ...failure, refused: true } };
}

/** What is open now: of a synchronous write what its attempt left open, of another perhaps one that came after that. */
function leftOpen(job: AttemptJob, earlier: Failure | undefined): RecordOutcome {
  const isOwn = job.mode === 'synchronous' && earlier?.category === 'unknownOutcome';
  return isOwn ? leftUnknown(earlier) : stoppedOutcome(job);
}

interface Before {
  /** What is not to be sent. */
  settled: Map<number, RecordOutcome>;
  /** What is sent although an attempt before may have been done. */
  open: Set<number>;
  /** Of what is sent, what was looked for and is not there. */
  absent: Map<number, { by: string; surely: boolean }>;
}

async function lookForEarlier(
  job: AttemptJob,
  records: readonly PlannedRecord[],
  earlier: ReadonlyMap<number, Failure>,
  acceptedAt: number,
  context: AttemptContext,
): Promise<Before> {
  const lost = [...earlier].filter(([, failure]) => failure.category === 'unknownOutcome');
  const verdicts = await look(
    job,
    lost.map(([slot, { quiet = false }]) => ({
      record: records[slot] as PlannedRecord,
      startedAt: acceptedAt,
      quiet,
    })),
    { ...context, twice: false },
    [],
  );
  const course = courseOf(job, context);
  const before: Before = { settled: new Map(), open: new Set(), absent: new Map() };
  lost.forEach(([slot, failure], i) => {
    const verdict = verdicts[i] ?? 'later';
    if (!maySendAgain(verdict, course)) {
      before.settled.set(slot, afterVerdict(leftUnknown(failure), verdict, course));
    } else {
      before.open.add(slot);
      if (typeof verdict === 'object' && 'absent' in verdict)
        before.absent.set(slot, { by: verdict.absent.key.name, surely: isSurelyAbsent(verdict) });
    }
  });
  return before;
}

async function look(
  job: AttemptJob,
  lost: readonly LostRecord[],
  { patienceMs, ...context }: AttemptContext & { twice: boolean },
  known: readonly RecordOutcome[],
): Promise<Verdict[]> {
  if (lost.length === 0) return [];
  const signal =
    patienceMs === undefined
      ? context.signal
      : AbortSignal.any([context.signal, AbortSignal.timeout(patienceMs)]);
  const claimed = known.flatMap((one) =>
    one.kind === 'applied' && one.recordId !== undefined ? [one.recordId] : [],
  );
  const verdicts = await readBack(job.objectName, lost, { ...context, signal, claimed });
  return isOneCall(job, context.connector) ? oneFate(verdicts) : verdicts;
}

function recordsAt(slots: readonly number[], records: readonly PlannedRecord[]): PlannedRecord[] {
  return slots.map((slot) => records[slot] as PlannedRecord);
}

/** A refusal for a record that stands there already, or by a rule of the account, may be about the very record that an earlier attempt made. */
function isLost(outcome: RecordOutcome | undefined, isMarked: boolean): boolean {
  if (outcome?.kind !== 'notApplied') return outcome?.kind === 'unknown';
  const { category, retryable } = outcome.failure;
  return isMarked && (category === 'conflict' || (category === 'validation' && !retryable));
}

/**
 * Of a record that was sent again: that it was not done this time says nothing of the time before, unless the record itself
 * is what was refused. Undefined: the outcome holds for both.
 */
function stillOpen(
  outcome: RecordOutcome,
  mark: string | undefined,
  { quietMs }: Course,
): RecordOutcome | undefined {
  if (outcome.kind !== 'notApplied') return undefined;
  const { failure } = outcome;
  if (failure.retryable) return notThisTime(failure, { pending: true });
  if (mark === undefined) return notThisTime(failure, {});
  if (failure.category === 'validation' || failure.category === 'conflict') return undefined;
  return notThisTime({ ...failure, retryAfterMs: quietMs }, { pending: true, quiet: true });
}

function marked(outcome: RecordOutcome, mark: string | undefined): RecordOutcome {
  if (mark === undefined || outcome.kind !== 'notApplied') return outcome;
  return { kind: 'notApplied', failure: { ...outcome.failure, lookedUpBy: mark } };
}
