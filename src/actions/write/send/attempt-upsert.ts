import { sleep } from '../../../kit/retry.ts';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { AttemptContext, AttemptJob, AttemptRecords } from './job.ts';
import { executeWrite } from './execute.ts';
import { isOneCall } from './one-call.ts';
import { notThisTime, quietMsOf } from './resolve.ts';

/** While its caller waits, an upsert whose answer was lost is sent again so often, after so many milliseconds. */
const pausesMs = [250, 1_000];

/**
 * One attempt at upserts. A repetition leaves the same state, so a lost answer is asked for again: here while the caller of a synchronous
 * write waits, and otherwise by the next attempt (`record/settle.ts`).
 */
export async function attemptUpsert(
  job: AttemptJob,
  { records, earlier }: Pick<AttemptRecords, 'records' | 'earlier'>,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  const outcomes = await sendOnce(job, records, earlier, context);
  if (context.patienceMs === undefined) return outcomes;
  const isOne = isOneCall(job, context.connector);
  for (const pauseMs of pausesMs) {
    const open = worthAsking(outcomes, isOne);
    if (open.length === 0) break;
    await sleep(pauseMs, context.signal);
    if (context.signal.aborted || !context.mayStillSend()) break;
    const before = new Map(
      open.flatMap((slot, i) => {
        const failure = failureOf(outcomes[slot]);
        return failure ? [[i, failure] as const] : [];
      }),
    );
    const again = await sendOnce(
      job,
      open.map((slot) => records[slot] as PlannedRecord),
      before,
      context,
    );
    const isRefused = refusalsAmong(again, isOne);
    open.forEach((slot, i) => {
      outcomes[slot] = stillKnown(outcomes[slot] as RecordOutcome, again[i] as RecordOutcome, isRefused);
    });
  }
  return outcomes;
}

/**
 * After an attempt whose end nobody saw: the same is sent again, at once or, where the first may still come and a second would be made,
 * when that is over. A queued one is sent by its next attempt.
 */
export async function repeatStopped(
  job: AttemptJob,
  { records, earlier, isLost = false }: Pick<AttemptRecords, 'records' | 'earlier' | 'isLost'>,
  stopped: RecordOutcome,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  const waitMs = await quietMs(job, context);
  const hasWaited = !isLost && records.every((_, slot) => earlier.get(slot)?.category === 'unknownOutcome');
  if (job.mode === 'asynchronous' || (waitMs > 0 && !hasWaited))
    return records.map((_, slot) => afterUpsert(stopped, earlier.get(slot), waitMs));
  const lost = new Map(
    records.map((_, slot) => [slot, earlier.get(slot) ?? (stopped as { failure: Failure }).failure]),
  );
  const again = await attemptUpsert(job, { records, earlier: lost }, context);
  const isRefused = refusalsAmong(again, isOneCall(job, context.connector));
  return again.map((one) => afterLoss(one, isRefused));
}

/**
 * A repetition that was not done says nothing of the call before it, whose answer was lost: that may have made the record, and some rules
 * hold for changes only. A refusal is the end of it. Pure.
 */
export function afterLoss(again: RecordOutcome, isRefused: Refused): RecordOutcome {
  if (again.kind !== 'notApplied') return again;
  if (isRefused(again.failure)) return notThisTime(again.failure, { refused: true });
  return notThisTime(again.failure, again.failure.clashed ? { clashed: true } : {});
}

async function sendOnce(
  job: AttemptJob,
  records: readonly PlannedRecord[],
  earlier: ReadonlyMap<number, Failure>,
  context: AttemptContext,
): Promise<RecordOutcome[]> {
  const isOne = isOneCall(job, context.connector);
  const sent = await executeWrite(job, records, context, (all) => withClashes(all, earlier, isOne));
  const waitMs = sent.some(({ kind }) => kind === 'unknown') ? await quietMs(job, context) : 0;
  return sent.map((outcome, slot) => afterUpsert(outcome, earlier.get(slot), waitMs));
}

/**
 * How long nothing is sent after a lost answer. Where the provider admits the value only once, a call that is still under way there and
 * its repetition cannot both create; otherwise the repetition waits until the first can no longer take effect.
 */
async function quietMs(
  { objectName, upsertBy = '' }: AttemptJob,
  { connector, describe, lateEffectMs }: AttemptContext,
): Promise<number> {
  const described = await describe();
  const description = 'object' in described ? described.object : undefined;
  const found = connector.upsert?.identity(objectName, upsertBy, description);
  if (found && 'field' in found && found.field.enforced) return 0;
  return quietMsOf(connector, lateEffectMs);
}

/** What an attempt says of a record, with how the one before ended. Pure. */
export function afterUpsert(
  outcome: RecordOutcome,
  earlier: Failure | undefined,
  waitMs: number,
): RecordOutcome {
  if (outcome.kind === 'applied')
    return earlier?.category === 'unknownOutcome' ? unlessOurs(outcome) : outcome;
  if (outcome.kind !== 'unknown') return outcome;
  const { failure } = outcome;
  const retryAfterMs = Math.max(failure.retryAfterMs ?? 0, waitMs);
  return { kind: 'unknown', failure: { ...failure, ...(retryAfterMs > 0 ? { retryAfterMs } : {}) } };
}

/**
 * A call of ours, or of another, may have made a record since the provider looked: then the next one finds it. Of one call that is so of no
 * record where another one is refused for good. `earlier`: how the attempt before ended, by slot. Pure.
 */
export function withClashes(
  outcomes: readonly RecordOutcome[],
  earlier: ReadonlyMap<number, Failure>,
  isOne: boolean,
): RecordOutcome[] {
  const isClash = ({ category, retryable }: Failure, slot: number): boolean =>
    category === 'conflict' && !retryable && !earlier.get(slot)?.clashed;
  const isFinal = (one: RecordOutcome, slot: number): boolean =>
    one.kind === 'notApplied' && !one.failure.retryable && !isClash(one.failure, slot);
  if (isOne && outcomes.some(isFinal)) return [...outcomes];
  return outcomes.map((one, slot) =>
    one.kind === 'notApplied' && isClash(one.failure, slot) ? clashed(one.failure) : one,
  );
}

function clashed(failure: Failure): RecordOutcome {
  return { kind: 'notApplied', failure: { ...failure, retryable: true, clashed: true } };
}

/** One that stands there may have been made by the attempt whose answer was lost. */
function unlessOurs(outcome: RecordOutcome & { kind: 'applied' }): RecordOutcome {
  if (outcome.created !== false) return outcome;
  const { created: _created, ...applied } = outcome;
  return applied;
}

/** What is sent again at once; of one call all that was not done, or nothing. */
function worthAsking(outcomes: readonly RecordOutcome[], isOne: boolean): number[] {
  const failed = [...outcomes.keys()].filter((slot) => outcomes[slot]?.kind !== 'applied');
  const open = failed.filter((slot) => isWorthAsking(outcomes[slot]));
  if (!isOne || open.length === 0) return open;
  return failed.every((slot) => maySoonBeAsked(failureOf(outcomes[slot]))) ? failed : [];
}

function isWorthAsking(outcome: RecordOutcome | undefined): boolean {
  const failure = failureOf(outcome);
  return maySoonBeAsked(failure) && (outcome?.kind === 'unknown' || failure?.clashed === true);
}

/** Not what the provider takes long for, must not be asked for yet, or refused for good. */
function maySoonBeAsked(failure: Failure | undefined): boolean {
  return failure !== undefined && !failure.timedOut && !failure.refused && (failure.retryAfterMs ?? 0) === 0;
}

function failureOf(outcome: RecordOutcome | undefined): Failure | undefined {
  return outcome === undefined || outcome.kind === 'applied' ? undefined : outcome.failure;
}

/** What is known after a repetition that the caller waited for. Pure. */
export function stillKnown(before: RecordOutcome, again: RecordOutcome, isRefused: Refused): RecordOutcome {
  if (before.kind !== 'unknown' || again.kind !== 'notApplied') return again;
  return isRefused(again.failure) ? afterLoss(again, isRefused) : before;
}

type Refused = (failure: Failure) => boolean;

/** Which failures of an attempt are refused again each time: of one call all, if one is. Pure. */
export function refusalsAmong(outcomes: readonly RecordOutcome[], isOne: boolean): Refused {
  const isWhole = isOne && outcomes.some((one) => one.kind === 'notApplied' && refusesRecord(one.failure));
  return (failure) => isWhole || refusesRecord(failure);
}

/** A refusal of the record itself. */
function refusesRecord({ category, retryable }: Failure): boolean {
  return !retryable && (category === 'validation' || category === 'conflict' || category === 'notFound');
}
