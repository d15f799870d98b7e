import {
  failureOfRead,
  withheld,
  type Connector,
  type Failure,
  type ObjectDescription,
  type ProviderRequest,
  type RecordOutcome,
  type ResolveAbility,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import { foldedKey } from '../prepare/upsert.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { WriteContext, WriteJob } from './job.ts';

/** A connector names so many fields in one read at least. */
const fieldsPerRead = 50;

/** What an answer too large to be read is asked for again in. */
export function halvesOf(list: readonly string[]): string[][] {
  return inParts(list, Math.ceil(list.length / 2));
}

interface Look {
  values: string[];
  fields: string[];
  request: ProviderRequest;
}

/** The reads before upserts whose fields depend on whether the record stands there. */
export function looksBefore(
  job: WriteJob,
  records: Iterable<PlannedRecord>,
  { resolve: ability }: Connector,
  description: ObjectDescription | undefined,
): Look[] {
  const conditional = [...records].filter(
    ({ onUpdate, key = '' }) => onUpdate && !ability?.faultOfValue?.(job.upsertBy ?? '', key, description),
  );
  if (conditional.length === 0 || !ability) return [];
  const keys = conditional.map(({ key = '' }) => key);
  const wanted = [...new Set(conditional.flatMap(({ onUpdate }) => onUpdate?.ifEmpty ?? []))];
  return inParts(keys, ability.valuesPerRead).flatMap((values) =>
    (wanted.length === 0 ? [[]] : inParts(wanted, fieldsPerRead)).map((fields) =>
      lookOf(job, ability, values, fields, description),
    ),
  );
}

function lookOf(
  { objectName, upsertBy = '' }: WriteJob,
  ability: ResolveAbility,
  values: string[],
  fields: string[],
  description: ObjectDescription | undefined,
): Look {
  return { values, fields, request: ability.build(objectName, upsertBy, values, fields, description) };
}

function inParts(list: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}

/** A record that stands at the provider, with the fields that were asked for. */
interface Standing {
  recordId: string;
  fields: Record<string, unknown>;
}

/**
 * Settles what conditional upserts send: of a record that stands there, what is for an update. What has nothing to change, or could
 * not be looked up, has its outcome. Another may make the record between the look and the write.
 */
export async function settleConditional(
  job: WriteJob,
  records: ReadonlyMap<number, PlannedRecord>,
  context: WriteContext,
  outcomes: Map<number, RecordOutcome>,
): Promise<Map<number, PlannedRecord>> {
  const toSend = new Map(records);
  const ability = context.connector.resolve;
  if (!ability || ![...records.values()].some(({ onUpdate }) => onUpdate)) return toSend;
  const described = await context.describe();
  const description = 'object' in described ? described.object : undefined;
  const looks = looksBefore(job, records.values(), context.connector, description);
  const isLater = 'failure' in described && described.failure.retryable;
  const standing = isLater ? described : await lookUp(job, ability, looks, context, description);
  for (const [slot, record] of records) {
    if (!record.onUpdate) continue;
    const failure = ability.faultOfValue?.(job.upsertBy ?? '', record.key ?? '', description);
    const settled = 'failure' in standing ? standing : settleOne(job, record, standing.found, context);
    const outcome = failure ? { failure } : settled;
    if ('failure' in outcome) outcomes.set(slot, { kind: 'notApplied', failure: outcome.failure });
    else if ('kind' in outcome) outcomes.set(slot, outcome);
    if ('record' in outcome) toSend.set(slot, outcome.record);
    else toSend.delete(slot);
  }
  return toSend;
}

type Found = Map<string, Standing>;

async function lookUp(
  job: WriteJob,
  ability: ResolveAbility,
  looks: readonly Look[],
  context: WriteContext,
  description: ObjectDescription | undefined,
): Promise<{ found: Found } | { failure: Failure }> {
  const found: Found = new Map();
  const left = [...looks];
  // The loop comes to what is added.
  for (const { values, fields, request } of left) {
    if (!context.mayStillSend()) return { failure: withheld };
    const result = await sendOrExplain(context, request);
    if ('failure' in result) return result;
    if ('fault' in result && result.fault.kind === 'tooLarge' && values.length > 1) {
      left.push(...halvesOf(values).map((part) => lookOf(job, ability, part, fields, description)));
      continue;
    }
    if ('fault' in result) return { failure: failureOfRead(result.fault) };
    const read = ability.judge(job.upsertBy ?? '', values, fields, result.answer);
    if ('failure' in read) return read;
    for (const [value, [one]] of read.found) {
      if (!one) continue;
      const before = found.get(foldedKey(value));
      found.set(foldedKey(value), {
        recordId: one.recordId,
        fields: { ...before?.fields, ...one.fields },
      });
    }
  }
  return { found };
}

function settleOne(
  { upsertBy = '' }: WriteJob,
  { onUpdate, ...record }: PlannedRecord,
  found: Found,
  { connector }: WriteContext,
): { record: PlannedRecord } | RecordOutcome {
  const standing = found.get(foldedKey(record.key ?? ''));
  if (!standing || !onUpdate) return { record };
  const isEmpty = (value: unknown): boolean => connector.currentFields?.isEmpty(value) ?? value === undefined;
  const filled = new Set((onUpdate.ifEmpty ?? []).filter((name) => !isEmpty(standing.fields[name])));
  const left = Object.entries(onUpdate.fields).filter(([name]) => !filled.has(name));
  const isKey = ([name]: [string, unknown]): boolean => name.toLowerCase() === upsertBy.toLowerCase();
  if (left.every(isKey)) {
    const { recordId } = standing;
    return { kind: 'applied', recordId, created: false, data: { id: recordId, ...Object.fromEntries(left) } };
  }
  return { record: { ...record, fields: Object.fromEntries(left) } };
}
