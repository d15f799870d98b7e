import { isExactNumber } from '../../kit/json.ts';
import type { ObjectDescription, RecordOutcome, StandingRecord, UniqueField } from '../../providers/index.ts';
import type { PlannedRecord } from './plan.ts';
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

/**
 * What became of a create whose answer was lost, from the records that have its unique value. It is ours if it was created
 * since and holds what we sent. Otherwise it keeps ours out, where the field admits no second one. Undefined: ours is not
 * there (yet). `claimed` are ids that other records of the same call turned out to have.
 */
export function judgeStanding(
  record: PlannedRecord,
  { key }: Search,
  standing: readonly StandingRecord[],
  since: number,
  claimed: ReadonlySet<string>,
): RecordOutcome | undefined {
  const fresh = standing.filter(({ createdAt, recordId }) => createdAt >= since && !claimed.has(recordId));
  const own = fresh.find((one) => differences(record, one).length === 0);
  if (own) {
    const { recordId, fields } = own;
    const data = { id: recordId, ...record.fields, ...fields };
    return { kind: 'applied', recordId, data, lookedUpBy: key.name };
  }
  const [other] = fresh.length > 0 ? fresh : standing;
  if (!other || !key.enforced) return undefined;
  const when =
    fresh.length > 0
      ? `it was created at the same time with other values (${differences(record, other).join(', ')})`
      : 'it stood there before';
  return {
    kind: 'notApplied',
    failure: {
      category: 'conflict',
      retryable: false,
      message: `the answer was lost, and nothing was written: a record with this ${key.name} exists already (id ${other.recordId}); ${when}`,
      existingRecordId: other.recordId,
      lookedUpBy: key.name,
    },
  };
}

/** Names of the fields that do not hold what was sent; where nothing was sent, the provider's default may stand. */
function differences(record: PlannedRecord, { fields }: StandingRecord): string[] {
  return Object.entries(record.fields)
    .filter(([name, sent]) => name in fields && !isEmpty(sent) && !sameValue(sent, fields[name]))
    .map(([name]) => name);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** The create was lost on its way: its record was looked for twice, and is not there. It may be sent again. */
export function neverArrived({ key }: Search): RecordOutcome {
  return {
    kind: 'notApplied',
    failure: {
      category: 'providerDown',
      retryable: true,
      message: `the answer was lost, and nothing was written: the record was looked for by ${key.name} and is not there`,
      lookedUpBy: key.name,
    },
  };
}

/** What is known of a lost create: its outcome; that nothing can tell; or that the provider could not be asked now. */
export type Verdict = RecordOutcome | 'untellable' | 'later';

/**
 * The outcome of an attempt, with the verdict on its record. What nothing can tell stays unknown, and is sent again only
 * if the caller prefers a duplicate to a gap; what could not be asked now is asked by the next attempt. A refusal of the
 * provider gives way only to the finding that the record is ours.
 */
export function afterVerdict(
  outcome: RecordOutcome,
  verdict: Verdict,
  onUnknown: 'fail' | 'retry' = 'fail',
): RecordOutcome {
  if (outcome.kind === 'applied') return outcome;
  if (outcome.kind === 'notApplied')
    return typeof verdict === 'object' && verdict.kind === 'applied' ? verdict : outcome;
  if (typeof verdict === 'object') return verdict;
  const { failure } = outcome;
  return verdict === 'later'
    ? { kind: 'unknown', failure: { ...failure, retryable: false, pending: true } }
    : { kind: 'unknown', failure: { ...failure, retryable: onUnknown === 'retry' } };
}

/** Whether a create that an earlier attempt may have done may be sent again, with what is known of it now. */
export function maySendAgain(outcome: RecordOutcome): boolean {
  return outcome.kind !== 'applied' && outcome.failure.retryable;
}
