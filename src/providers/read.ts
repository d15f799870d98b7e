/** What the reads of all connectors have in common. */
import { createHash } from 'node:crypto';
import { isExactNumber } from '../kit/json.ts';
import { comparable, idOf, isObject, rootField, textOf } from './answer.ts';
import type { ObjectDescription, ReadFilter, ReadQuery } from './connector.ts';
import { invalidCall, type Failure } from './failure.ts';
import type { FieldMetadata } from './schema.ts';

/** The fields of an object by their names in lower case. Objects have hundreds, and each page of a read asks for some. */
const byLowerName = new WeakMap<ObjectDescription['fields'], ReadonlyMap<string, FieldMetadata>>();

/** A field by its name in any case. */
export function fieldNamed({ fields }: ObjectDescription, name: string): FieldMetadata | undefined {
  if (Object.hasOwn(fields, name)) return fields[name];
  let byLower = byLowerName.get(fields);
  if (!byLower) {
    // Of two that differ in case alone, the first.
    const entries = Object.values(fields).map((field) => [field.fieldName.toLowerCase(), field] as const);
    byLower = new Map(entries.toReversed());
    byLowerName.set(fields, byLower);
  }
  return byLower.get(name.toLowerCase());
}

/** The provider's spelling of the names that the object has, each once and without the levels below a field. */
export function knownFields(object: ObjectDescription, names: readonly string[]): string[] {
  const known = names.map((name) => fieldNamed(object, rootField(name))?.fieldName);
  return [...new Set(known.filter((name) => name !== undefined))];
}

/** What is wrong with a read whoever the provider is. */
export function refusalOfQuery({ object, since, until, filters }: ReadQuery): Failure | undefined {
  if (since !== undefined && since > until) {
    return invalidCall(`nothing lies between ${timeText(since)} and the earlier ${timeText(until)}`);
  }
  return filters.map((filter) => refusalOfFilter(object, filter)).find((one) => one !== undefined);
}

function refusalOfFilter(object: ObjectDescription, filter: ReadFilter): Failure | undefined {
  const { fieldName, operator, value } = filter;
  const name = JSON.stringify(fieldName);
  if (!fieldNamed(object, fieldName)) {
    return invalidCall(`the object ${object.name} has no field ${name} to filter by`);
  }
  if (operator !== 'eq') {
    return invalidCall(
      `the filter on ${name} has the operator ${JSON.stringify(operator)}, where only "eq" is known`,
    );
  }
  if (filterText(value) === undefined)
    return invalidCall(`the filter on ${name} needs a text, a number or a boolean as its value`);
  const fault = faultOfFilterValue(object, filter);
  return fault === undefined ? undefined : invalidCall(`the filter on ${name} ${fault}`);
}

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** What is wrong with a value for the type of its field: a time that is none lets no record through, whatever the provider. */
export function faultOfFilterValue(
  object: ObjectDescription,
  { fieldName, value }: Pick<ReadFilter, 'fieldName' | 'value'>,
): string | undefined {
  const { valueType } = fieldNamed(object, fieldName) ?? {};
  if (valueType !== 'date' && valueType !== 'datetime') return undefined;
  const text = filterText(value) ?? '';
  const isTime = isMilliseconds(text) || (isoTime.test(text) && timeOf(text) !== undefined);
  const example = valueType === 'date' ? '2026-01-31' : '2026-01-31T09:00:00Z';
  return isTime ? undefined : `needs a ${valueType} such as ${example}`;
}

/** The value of a filter as text; undefined for what is no scalar. */
export function filterText(value: unknown): string | undefined {
  if (isExactNumber(value)) return value.rawJSON;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** Whether a record passes filters that the provider was not asked to apply. */
export function passes(
  object: ObjectDescription,
  filters: readonly ReadFilter[],
  values: Record<string, unknown>,
): boolean {
  return filters.every(({ fieldName, value }) => {
    const field = fieldNamed(object, fieldName);
    return field !== undefined && isSame(field.valueType, values[field.fieldName], value);
  });
}

/** Providers tell a number and a time in more than one way: `12.50`, milliseconds since the epoch. */
function isSame(type: FieldMetadata['valueType'], value: unknown, wanted: unknown): boolean {
  const [own, other] = [comparable(value), comparable(wanted)];
  if (own === undefined || other === undefined) return own === other;
  if (type === 'int' || type === 'float') return own === other || Number(own) === Number(other);
  if (type === 'date' || type === 'datetime') return own === other || instant(own) === instant(other);
  return own === other;
}

function instant(text: string): number {
  return isMilliseconds(text) ? Number(text) : Date.parse(text);
}

const isMilliseconds = (text: string): boolean => /^-?\d{9,}$/.test(text);

/** Whether a change at this time is asked for. */
export function isWithin({ since = -Infinity, until }: ReadQuery, at: number): boolean {
  return at > since && at <= until;
}

/** To read an answer of so many values holds the event loop for some tens of milliseconds. */
const valuesPerPage = 40_000;

/** How many records a page asks for: no more than are read in a moment, nor than the caller wants. */
export function pageSize(largest: number, valuesPerRecord: number, limit = largest): number {
  const fitting = Math.floor(valuesPerPage / valuesPerRecord);
  return Math.max(1, Math.min(largest, limit, fitting));
}

/** A time of a provider in milliseconds; undefined for what is none. */
export function timeOf(value: unknown): number | undefined {
  const at = Date.parse(textOf(value) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

export function timeText(at: number): string {
  return new Date(at).toISOString();
}

const usualTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const withoutMs = '2000-01-01T00:00:00Z'.length;

/** The same of a time that was read from `text`, which most often has that form already, or lacks the milliseconds. */
export function timeTextOf(at: number, text: unknown): string {
  if (typeof text !== 'string' || !usualTime.test(text)) return timeText(at);
  return text.length === withoutMs ? `${text.slice(0, -1)}.000Z` : text;
}

/** The version of a record whose provider tells no time of change. */
export function versionByContent(raw: unknown): string {
  return createHash('sha256').update(JSON.stringify(raw)).digest('base64url');
}

/** The records of a list, each with its id; undefined where one of them is no record. */
export function recordsWithIds(
  list: unknown,
  idName: string,
  form: RegExp,
): { id: string; raw: Record<string, unknown> }[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const records = list.map((raw: unknown) => {
    const id = isObject(raw) ? idOf(raw[idName]) : undefined;
    return isObject(raw) && id !== undefined && form.test(id) ? { id, raw } : undefined;
  });
  return records.every((one) => one !== undefined) ? records : undefined;
}

/** The count in an answer; undefined for what is none. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
