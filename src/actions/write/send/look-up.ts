import {
  failureOfRead,
  withheld,
  type Connector,
  type Failure,
  type ObjectDescription,
  type ProviderRequest,
  type RecordOutcome,
  type ResolveAbility,
  type StandingRecord,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import { readByFields, refusalOf } from './by-fields.ts';
import { foldedKey, keyAsId } from '../prepare/upsert.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { WriteContext, WriteJob } from './job.ts';

/** A connector names so many fields in one read at least. */
const fieldsPerRead = 50;

/** What an answer too large to be read is asked for again in. */
export function halvesOf<Item>(list: readonly Item[]): Item[][] {
  return inParts(list, Math.ceil(list.length / 2));
}

/** Whether so many values make the path of a read too long. */
export function isTooLong(
  { longestPath = Infinity }: ResolveAbility,
  { values, request }: Pick<Look, 'values' | 'request'>,
): boolean {
  return values.length > 1 && request.path.length > longestPath;
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
  connector: Connector,
  description: ObjectDescription | undefined,
): ProviderRequest[] {
  const ability = connector.resolve;
  if (!ability) return [];
  return partsOf(job, records, connector, ability, description).map(({ request }) => request);
}

/** What each of these reads asks for. */
function partsOf(
  job: WriteJob,
  records: Iterable<PlannedRecord>,
  connector: Connector,
  ability: ResolveAbility,
  description: ObjectDescription | undefined,
): Look[] {
  const conditional = [...records].filter(({ onUpdate }) => onUpdate);
  const keys = conditional.map(({ key = '' }) => key);
  const wanted = namesWanted(conditional).filter((name) => !connector.faultOfField?.(name));
  const fitting = (values: string[], fields: string[]): Look[] => {
    const look = lookOf(job, ability, values, fields, description);
    return isTooLong(ability, look) ? halvesOf(values).flatMap((half) => fitting(half, fields)) : [look];
  };
  return inParts(keys, ability.valuesPerRead).flatMap((values) =>
    (wanted.length === 0 ? [[]] : inParts(wanted, fieldsPerRead)).flatMap((fields) =>
      fitting(values, fields),
    ),
  );
}

/** The fields of which must be known whether they are empty. */
function namesWanted(records: Iterable<PlannedRecord>): string[] {
  return [...new Set([...records].flatMap(({ onUpdate }) => onUpdate?.ifEmpty ?? []))];
}

/** Those that no read can ask for. */
function unreadable(records: Iterable<PlannedRecord>, connector: Connector): Map<string, Failure> {
  return new Map(
    namesWanted(records).flatMap((name) => {
      const failure = connector.faultOfField?.(name);
      return failure ? [[name, failure] as const] : [];
    }),
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

function inParts<Item>(list: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}

type Described = Awaited<ReturnType<WriteContext['describe']>>;

/** The object, where conditional upserts are among the records: it tells what values the field that they go by can hold. */
export async function describedFor(
  records: Iterable<PlannedRecord>,
  { connector, describe }: WriteContext,
): Promise<Described | undefined> {
  return connector.resolve && [...records].some(({ onUpdate }) => onUpdate) ? describe() : undefined;
}

/** A record that stands at the provider, with the fields that were asked for. */
interface Standing {
  recordId: string;
  fields: Record<string, unknown>;
}

/** What a look told of all records, or why it told nothing. */
export type LookedUp = { found: Found } | { failure: Failure };

/** Looks conditional upserts up by their value; undefined where there are none. */
export async function lookUp(
  job: WriteJob,
  records: ReadonlyMap<number, PlannedRecord>,
  described: Described | undefined,
  context: WriteContext,
): Promise<LookedUp | undefined> {
  const ability = context.connector.resolve;
  if (!ability || !described || ![...records.values()].some(({ onUpdate }) => onUpdate)) return undefined;
  if ('failure' in described && described.failure.retryable) return described;
  const description = 'object' in described ? described.object : undefined;
  const parts = partsOf(job, records.values(), context.connector, ability, description);
  const refused = unreadable(records.values(), context.connector);
  return readParts(job, ability, parts, refused, context, description);
}

/** The record that each value leads to, as far as the look told. */
export function ledTo(looked: LookedUp | undefined): Iterable<[string, string]> {
  return looked && 'found' in looked ? looked.found.leads : [];
}

/**
 * Settles what conditional upserts send: of a record that stands there, what is for an update. What has nothing to change, or could
 * not be looked up, has its outcome. Another may make the record between the look and the write.
 */
export function settleConditional(
  job: WriteJob,
  records: ReadonlyMap<number, PlannedRecord>,
  looked: LookedUp,
  context: WriteContext,
  outcomes: Map<number, RecordOutcome>,
): Map<number, PlannedRecord> {
  const toSend = new Map(records);
  for (const [slot, record] of records) {
    if (!record.onUpdate) continue;
    const outcome = 'failure' in looked ? looked : settleOne(job, record, looked.found, context);
    if ('failure' in outcome) outcomes.set(slot, { kind: 'notApplied', failure: outcome.failure });
    else if ('kind' in outcome) outcomes.set(slot, outcome);
    if ('record' in outcome) toSend.set(slot, outcome.record);
    else toSend.delete(slot);
  }
  return toSend;
}

/** What stands there, or why that cannot be told, by the folded key; and the names that the provider refuses to read. */
interface Found {
  standing: Map<string, Standing>;
  /** The record of each value, also of values that were not asked for; in the form that they have among ids. */
  leads: Map<string, string>;
  untold: Map<string, Failure>;
  refused: Map<string, Failure>;
}

async function readParts(
  job: WriteJob,
  ability: ResolveAbility,
  parts: readonly Pick<Look, 'values' | 'fields'>[],
  refused: Found['refused'],
  context: WriteContext,
  description: ObjectDescription | undefined,
): Promise<LookedUp> {
  const all: Found = { standing: new Map(), leads: new Map(), untold: new Map(), refused };
  for (const { values, fields } of parts) {
    const ask = (part: string[]): Promise<Told | { failure: Failure }> =>
      askFor(job, ability, lookOf(job, ability, values, part, description), context, description);
    const read = await readByFields(fields, ask);
    if ('failure' in read) return read;
    for (const [name, failure] of read.refused) refused.set(name, failure);
    // Whether they stand there must be known also where none of the fields can be read.
    const last = read.found.length === 0 ? await ask([]) : undefined;
    if (last && 'failure' in last) return last;
    for (const told of last ? [last] : read.found) merge(all, told);
  }
  return { found: all };
}

/** What was found by the value asked for, and why it cannot be told of others. */
interface Told {
  found: Map<string, StandingRecord[]>;
  untold: Map<string, Failure>;
}

/** Values whose answer is too large to be read, or does not tell of all of them, are asked for in halves. */
async function askFor(
  job: WriteJob,
  ability: ResolveAbility,
  { values, fields, request }: Look,
  context: WriteContext,
  description: ObjectDescription | undefined,
): Promise<Told | { failure: Failure }> {
  if (!context.mayStillSend()) return { failure: withheld };
  const result = await sendOrExplain(context, request);
  const judged = judgeLook(job, ability, { values, fields }, result, description);
  if ('failure' in judged) return judged;
  const told: Told = { found: new Map(), untold: new Map() };
  if ('found' in judged) return { ...told, found: judged.found };
  if (values.length < 2) return { ...told, untold: new Map(values.map((one) => [one, judged.untold])) };
  for (const part of halvesOf(values)) {
    const look = lookOf(job, ability, part, fields, description);
    const read = await askFor(job, ability, look, context, description);
    if ('failure' in read) return read;
    for (const [one, standing] of read.found) told.found.set(one, standing);
    for (const [one, failure] of read.untold) told.untold.set(one, failure);
  }
  return told;
}

function judgeLook(
  { upsertBy = '' }: WriteJob,
  ability: ResolveAbility,
  { values, fields }: Pick<Look, 'values' | 'fields'>,
  result: Awaited<ReturnType<typeof sendOrExplain>>,
  description: ObjectDescription | undefined,
): ReturnType<ResolveAbility['judge']> {
  if ('failure' in result) return result;
  if ('answer' in result) return ability.judge(upsertBy, values, fields, result.answer, description);
  const failure = failureOfRead(result.fault);
  return result.fault.kind === 'tooLarge' ? { untold: failure } : { failure };
}

function merge({ standing, leads, untold }: Found, told: Told): void {
  for (const [value, failure] of told.untold) untold.set(foldedKey(value), failure);
  for (const [value, [one]] of told.found) {
    if (!one) continue;
    for (const key of [value, ...(one.keys ?? [])]) leads.set(keyAsId(key), one.recordId);
    const before = standing.get(foldedKey(value));
    const fields = { ...before?.fields, ...one.fields };
    standing.set(foldedKey(value), { recordId: one.recordId, fields });
  }
}

function settleOne(
  { upsertBy = '' }: WriteJob,
  { onUpdate, ...record }: PlannedRecord,
  found: Found,
  { connector }: WriteContext,
): { record: PlannedRecord } | RecordOutcome {
  const key = foldedKey(record.key ?? '');
  const untold = found.untold.get(key);
  if (untold && onUpdate) return { kind: 'notApplied', failure: untold };
  const standing = found.standing.get(key);
  if (!standing || !onUpdate) return { record };
  const failure = refusalOf(onUpdate.ifEmpty, found);
  if (failure) return { kind: 'notApplied', failure };
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
