import { isExactNumber } from '../../../kit/json.ts';
import {
  unknownOutcome,
  type Connector,
  type Failure,
  type ObjectDescription,
  type RecordOutcome,
  type StandingRecord,
  type UniqueField,
  type WriteKind,
} from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { sameValue } from './same-value.ts';

/** By what a record is looked for at the provider. */
export interface Search {
  key: UniqueField;
  value: string;
}

/** The first unique field that the record has a value in; undefined: nothing tells it from other records. */
export function searchOf(record: PlannedRecord, keys: readonly UniqueField[]): Search | undefined {
  const values = new Map(Object.entries(record.fields).map(([name, value]) => [name.toLowerCase(), value]));
  for (const key of keys) {
    const value = textOf(values.get(key.name.toLowerCase()));
    if (value !== undefined) return { key, value };
  }
  return undefined;
}

function textOf(value: unknown): string | undefined {
  if (isExactNumber(value)) return value.rawJSON;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return String(value).trim() || undefined;
}

/** The fields of the records whose values come back as they were sent; what is masked or has parts does not. */
export function comparableFields(
  records: readonly PlannedRecord[],
  description: ObjectDescription | undefined,
): string[] {
  const known = new Map(
    Object.values(description?.fields ?? {}).map((field) => [field.fieldName.toLowerCase(), field]),
  );
  const names = new Set(records.flatMap(({ fields }) => Object.keys(fields)));
  return [...names].filter((name) => {
    const field = known.get(name.toLowerCase());
    return field !== undefined && field.valueType !== 'other' && field.providerType !== 'encryptedstring';
  });
}

/**
 * The earliest time by the provider's clock at which something that we began at `startedAt` can have been done there. Its
 * `Date` header, of whole seconds, shows how the clocks differ; it was written before its answer arrived at `answeredAt`.
 * Without it the clocks are taken to differ by at most five seconds.
 */
export function earliestCreation(
  startedAt: number,
  answeredAt: number,
  dateHeader: string | undefined,
  precisionMs: number,
): number {
  const date = Date.parse(dateHeader ?? '');
  const earliest = Number.isNaN(date) ? startedAt - 5_000 : startedAt + date - answeredAt;
  return Math.floor(earliest / precisionMs) * precisionMs;
}

/** Whether a value that was sent is the one that stands in the field. */
export type SameIn = (field: string, sent: unknown, standing: unknown) => boolean;

/** By what the provider says of its fields, whose names have any case. */
export function sameIn(
  description: ObjectDescription | undefined,
  { canonicalId }: Pick<Connector, 'canonicalId'>,
): SameIn {
  const types = new Map(
    Object.values(description?.fields ?? {}).map((one) => [one.fieldName.toLowerCase(), one.valueType]),
  );
  return (field, sent, standing) =>
    sameValue(sent, standing, { valueType: types.get(field.toLowerCase()), canonicalId });
}

/** What stands at the provider under the unique value of a create whose answer was lost. */
export interface Standing {
  records: readonly StandingRecord[];
  /** Before this time, by the provider's clock, none of them can be ours. */
  since: number;
  /** Ids of records that are known to be another's. */
  claimed: ReadonlySet<string>;
  isSame: SameIn;
}

/** The record that a lost create made, surely: it was created since, and holds what we sent. */
export function ownRecord(
  record: PlannedRecord,
  { key }: Search,
  standing: Standing,
): (RecordOutcome & { kind: 'applied' }) | undefined {
  const own = createdSince(standing).find((one) => differences(record, one, standing.isSame).length === 0);
  if (!own) return undefined;
  const { recordId, fields } = own;
  return {
    kind: 'applied',
    recordId,
    data: { id: recordId, ...record.fields, ...fields },
    lookedUpBy: key.name,
  };
}

/**
 * What became of a create whose answer was lost and of which there is no {@link ownRecord}. One that was created since may be ours all the
 * same: the provider rounds, and others change it. One from before keeps ours out, where the field admits no second one. Undefined: ours
 * is not there (yet).
 */
export function judgeStanding(
  record: PlannedRecord,
  { key }: Search,
  standing: Standing,
): RecordOutcome | undefined {
  const fresh = createdSince(standing);
  if (fresh.length > 0) return perhapsOurs(record, key, fresh, standing.isSame);
  const [other] = standing.records;
  if (!other || !key.enforced) return undefined;
  const when = standing.claimed.has(other.recordId) ? 'another write made it' : 'it stood there before';
  return {
    kind: 'notApplied',
    failure: {
      category: 'conflict',
      retryable: false,
      message: `its outcome was unknown, and nothing was written: a record with this ${key.name} exists already (id ${other.recordId}); ${when}`,
      existingRecordId: other.recordId,
      lookedUpBy: key.name,
    },
  };
}

function createdSince({ records, since, claimed }: Standing): StandingRecord[] {
  return records.filter(({ createdAt, recordId }) => createdAt >= since && !claimed.has(recordId));
}

/** An end: whoever looks at the record can tell. The record is named where it is the only one. */
function perhapsOurs(
  record: PlannedRecord,
  { name }: UniqueField,
  fresh: readonly StandingRecord[],
  isSame: SameIn,
): RecordOutcome {
  const ids = fresh.map(({ recordId }) => recordId);
  const others = [...new Set(fresh.flatMap((one) => differences(record, one, isSame)))].join(', ');
  const why = `no answer told it, and what has this ${name} was created since and holds other values (${others}): it may be this record (id ${ids.join(', ')})`;
  const named = ids.length === 1 ? { existingRecordId: ids[0] as string } : {};
  return { kind: 'unknown', failure: { ...unknownOutcome(why, false), ...named, lookedUpBy: name } };
}

/** Names of the fields that do not hold what was sent; where nothing was sent, the provider's default may stand. */
function differences(record: PlannedRecord, { fields }: StandingRecord, isSame: SameIn): string[] {
  return Object.entries(record.fields)
    .filter(([name, sent]) => name in fields && !isEmpty(sent) && !isSame(name, sent, fields[name]))
    .map(([name]) => name);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** The create was lost on its way: it was looked for after the longest that the provider works on a request, and is not there. */
function neverArrived({ key }: Search): RecordOutcome {
  return {
    kind: 'notApplied',
    failure: {
      category: 'providerDown',
      retryable: true,
      message: `its outcome was unknown, and nothing was written: the record was looked for by ${key.name} and is not there`,
      lookedUpBy: key.name,
    },
  };
}

/** Looked for, and not seen. */
export interface Absent {
  absent: Search;
  /** For so long that what was sent can no longer come. */
  over: boolean;
  /** The provider may have it, and not show it to this connection. */
  hides: boolean;
}

/** Whether what was not seen was not written, and will not be. Pure. */
export function isSurelyAbsent({ over, hides }: Absent): boolean {
  return over && !hides;
}

/** The provider does not let us look, for want of a scope or of the connection. */
export interface Barred {
  barred: Failure;
}

/** The credentials no longer work: the provider can be asked once the customer has connected again. */
export interface Shut {
  shut: Failure;
}

/** What a failed look says. */
export function verdictOf(failure: Failure): Barred | Shut | 'later' {
  if (failure.retryable) return 'later';
  return failure.category === 'auth' && !failure.gone ? { shut: failure } : { barred: failure };
}

/** What is known of a lost create: its outcome; that it is not seen (yet); that nothing can tell; or that the provider could not be asked now. */
export type Verdict = RecordOutcome | Absent | Barred | Shut | 'untellable' | 'later';

/** How long after its answer was lost a call may still take effect, in milliseconds: what is told, or what the provider documents. */
export function quietMsOf(
  { resolve }: Pick<Connector, 'resolve'>,
  lateEffectMs = (resolve?.longestRequestMs ?? 0) + (resolve?.settleMs ?? 0),
): number {
  return lateEffectMs;
}

/**
 * For how long an earlier call may still take effect, so that nothing is sent yet: what waits is due sooner when the customer connects
 * again. `sinceMs` is how long ago the attempt before ended, whose failures are `earlier`. An upsert does not tell why it waits. Pure.
 */
export function stillQuietMs(
  kind: WriteKind,
  earlier: Iterable<Failure>,
  sinceMs: number,
  quietMs: number,
): number {
  let restMs = 0;
  for (const { category, quiet, retryAfterMs } of earlier) {
    if (category !== 'unknownOutcome') continue;
    if (kind === 'create' && quiet) restMs = Math.max(restMs, (retryAfterMs ?? quietMs) - sinceMs);
    if (kind === 'upsert') restMs = Math.max(restMs, Math.min(retryAfterMs ?? 0, quietMs) - sinceMs);
  }
  return restMs;
}

/** What becomes of creates whose answer was lost. */
export interface Course {
  /** A synchronous write is never sent again. */
  mode: 'synchronous' | 'asynchronous';
  onUnknown?: 'fail' | 'retry';
  /** So long after it was lost a create may still take effect, in milliseconds. */
  quietMs: number;
}

/**
 * Whether a lost create may be sent again: when it is surely not there, or when the provider admits its unique value
 * only once, so that whichever comes second is refused; or when the caller prefers a duplicate to a gap.
 */
export function maySendAgain(verdict: Verdict, { mode, onUnknown }: Course): boolean {
  if (mode === 'synchronous' || isWaiting(verdict)) return false;
  if (cannotTell(verdict)) return onUnknown === 'retry';
  if (!isAbsent(verdict)) return false;
  if (verdict.absent.key.enforced || isSurelyAbsent(verdict)) return true;
  return verdict.over && onUnknown === 'retry';
}

function isAbsent(verdict: Verdict): verdict is Absent {
  return typeof verdict === 'object' && 'absent' in verdict;
}

function isWaiting(verdict: Verdict): verdict is Shut | 'later' {
  return verdict === 'later' || (typeof verdict === 'object' && 'shut' in verdict);
}

function cannotTell(verdict: Verdict): verdict is Barred | 'untellable' {
  return verdict === 'untellable' || (typeof verdict === 'object' && 'barred' in verdict);
}

/**
 * The outcome of an attempt, with the verdict on its record. A create of unknown outcome never says that it may be repeated:
 * what is still to be found out, or to be sent again by us, is pending. A refusal gives way only to the finding that the record is ours or
 * may be, or to none at all.
 */
export function afterVerdict(outcome: RecordOutcome, verdict: Verdict, course: Course): RecordOutcome {
  if (outcome.kind === 'applied') return outcome;
  if (outcome.kind === 'notApplied') return afterRefusal(outcome, verdict);
  if (verdict === 'later') return pending(outcome.failure);
  if (isWaiting(verdict)) return pending(notLookedFor(outcome.failure, verdict.shut));
  if (cannotTell(verdict))
    return maySendAgain(verdict, course) ? pending(outcome.failure) : ended(outcome.failure, verdict);
  if ('kind' in verdict) return verdict;
  const { absent, over } = verdict;
  if (isSurelyAbsent(verdict)) return neverArrived(absent);
  const failure = { ...outcome.failure, lookedUpBy: absent.key.name };
  if (maySendAgain(verdict, course)) return pending(failure);
  return over ? ended(failure, verdict) : pending({ ...failure, quiet: true, retryAfterMs: course.quietMs });
}

/** Of a create that was refused, after one whose answer was lost: for a record that stands there, or for a rule. */
function afterRefusal(outcome: RecordOutcome & { kind: 'notApplied' }, verdict: Verdict): RecordOutcome {
  if (isWaiting(verdict)) return notThisTime(outcome.failure, { pending: true });
  if (isOutcome(verdict)) return verdict.kind === 'notApplied' ? outcome : verdict;
  const { category, existingRecordId, byAccount } = outcome.failure;
  if ((category !== 'conflict' && !byAccount) || (isAbsent(verdict) && !verdict.hides)) return outcome;
  const named = existingRecordId === undefined ? {} : { existingRecordId };
  const by = isAbsent(verdict) ? { lookedUpBy: verdict.absent.key.name } : {};
  return notThisTime(outcome.failure, { ...named, ...by });
}

function pending(failure: Failure): RecordOutcome {
  return { kind: 'unknown', failure: { ...failure, retryable: false, pending: true } };
}

function ended(
  { pending: _pending, quiet: _quiet, retryAfterMs: _wish, ...failure }: Failure,
  verdict: Barred | Absent | 'untellable',
): RecordOutcome {
  const end = { ...failure, retryable: false };
  if (verdict === 'untellable') return { kind: 'unknown', failure: end };
  if ('barred' in verdict) return { kind: 'unknown', failure: notLookedFor(end, verdict.barred) };
  const why = `no record with this ${verdict.absent.key.name} is seen, which does not say that there is none`;
  return { kind: 'unknown', failure: { ...end, message: `${end.message}; ${why}` } };
}

const unseen = '; the record could not be looked for: ';

function notLookedFor(failure: Failure, { message, provider }: Failure): Failure {
  return { ...failure, message: failure.message + unseen + message, ...(provider ? { provider } : {}) };
}

/** The outcome that an attempt left open, without what kept it from being looked for then. What was to be quiet has been (`stillQuietMs`). */
export function leftUnknown({ pending: _pending, retryAfterMs: _wish, ...failure }: Failure): RecordOutcome {
  const [message = failure.message] = failure.message.split(unseen, 1);
  const over = failure.quiet ? { retryAfterMs: 0 } : {};
  return { kind: 'unknown', failure: { ...failure, ...over, message } };
}

/** The last attempt was not done, but one before it may have been, or may still be. */
export function notThisTime(
  { message, provider, retryAfterMs }: Failure,
  more: Pick<Failure, 'pending' | 'quiet' | 'clashed' | 'refused' | 'existingRecordId' | 'lookedUpBy'>,
): RecordOutcome {
  const why = `an earlier attempt may have been done, the last one was not: ${message}`;
  const wish = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: 'unknown', failure: { ...unknownOutcome(why, false, provider), ...wish, ...more } };
}

/**
 * The verdicts on records that were sent to be written all or none: they are treated alike. If one of them was written, all
 * were; if one exists already or surely never came, none was. If one may be there, all may. Otherwise the whole waits, or is sent again, as
 * one.
 */
export function oneFate(verdicts: readonly Verdict[]): Verdict[] {
  if (verdicts.some((one) => isOutcome(one) && one.kind === 'applied')) return verdicts.map(withTheOthers);
  const outcomes = verdicts.filter(isOutcome);
  const waiting = verdicts.find(isWaiting);
  if (outcomes.some(({ kind }) => kind === 'notApplied'))
    return verdicts.map((one) => (isOutcome(one) ? one : clashElsewhere));
  if (outcomes.length > 0) return verdicts.map((one) => waiting ?? (isOutcome(one) ? one : perhapsElsewhere));
  const absent = verdicts.filter(isAbsent);
  const told =
    absent.find(isSurelyAbsent) ??
    absent.find((one) => one.absent.key.enforced) ??
    absent.find(({ over }) => !over) ??
    absent[0];
  if (told) return verdicts.map(() => told);
  return waiting ? verdicts.map(() => waiting) : [...verdicts];
}

function isOutcome(verdict: Verdict): verdict is RecordOutcome {
  return typeof verdict === 'object' && 'kind' in verdict;
}

/** Of a call that was done: what could not be asked for, or be seen, was written, too. What contradicts that stays in the open. */
function withTheOthers(verdict: Verdict): RecordOutcome {
  if (isOutcome(verdict) && verdict.kind === 'applied') return verdict;
  if (isWaiting(verdict) || cannotTell(verdict) || (isAbsent(verdict) && verdict.hides))
    return { kind: 'applied' };
  if (isOutcome(verdict) && verdict.kind === 'unknown') return thenOurs(verdict.failure);
  const why = 'the others of its request, all or none of which were to be written, are there, and it is not';
  return { kind: 'unknown', failure: unknownOutcome(why, false) };
}

/** The record that may be ours is: the call was done. */
function thenOurs({ existingRecordId, lookedUpBy }: Failure): RecordOutcome {
  if (existingRecordId === undefined || lookedUpBy === undefined) return { kind: 'applied' };
  return { kind: 'applied', recordId: existingRecordId, lookedUpBy };
}

const perhapsElsewhere: RecordOutcome = {
  kind: 'unknown',
  failure: unknownOutcome(
    'no answer told it, and another record of the request, all or none of which were to be written, may be there',
    false,
  ),
};

const clashElsewhere: RecordOutcome = {
  kind: 'notApplied',
  failure: {
    category: 'conflict',
    retryable: false,
    message:
      'its outcome was unknown, and nothing was written: another record of the request, all or none of which were to be written, exists already',
  },
};
