import type { ReadFilter, ReadQuery } from '../connector.ts';
import { fieldNamed, filterText, knownFields, timeOf, timeText } from '../read.ts';
import type { FieldMetadata } from '../schema.ts';

const second = 1_000;
/** Not every object has the first one, which alone moves with changes that Salesforce makes itself. */
const stampFields = ['SystemModstamp', 'LastModifiedDate', 'CreatedDate'];

/** The field that holds the time of the last change; undefined where the object has none. */
export function stampField({ fields }: ReadQuery['object']): string | undefined {
  return stampFields.find((name) => Object.hasOwn(fields, name));
}

/** The fields that a record needs: its id, the time of its change, and those wanted. */
export function columnsOf(query: ReadQuery): string[] {
  return [...new Set([...narrowColumns(query), ...knownFields(query.object, query.fields)])];
}

/** Enough to read the rest by id. */
export function narrowColumns({ object }: ReadQuery): string[] {
  const stamp = stampField(object);
  return ['Id', ...(stamp === undefined ? [] : [stamp])];
}

/** The part of a query behind its columns: the time, the filters and what else holds. */
export function sourceOf(query: ReadQuery, more: readonly string[] = []): string {
  const { object, filters, deleted } = query;
  const conditions = [
    ...timeConditions(query),
    ...(deleted ? ['IsDeleted = true'] : []),
    ...filters.map((filter) => conditionOf(query, filter)),
    ...more,
  ];
  return `FROM ${object.name}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`;
}

/**
 * Salesforce compares whole seconds and rounds the times of changes down to them. What was changed in the second in which
 * the time before lies may have been changed after it, and is read.
 */
export function exclusiveSince({ since }: ReadQuery): number | undefined {
  if (since === undefined || since % second === 0) return since;
  return Math.floor(since / second) * second - second;
}

function timeConditions(query: ReadQuery): string[] {
  const stamp = stampField(query.object);
  if (stamp === undefined) return [];
  const since = exclusiveSince(query);
  return [
    ...(since === undefined ? [] : [`${stamp} > ${timeText(since)}`]),
    `${stamp} <= ${timeText(query.until)}`,
  ];
}

function conditionOf({ object }: ReadQuery, { fieldName, value }: ReadFilter): string {
  const field = fieldNamed(object, fieldName);
  const literal = field && literalOf(field, value);
  if (literal === undefined) throw new Error(`no condition on ${JSON.stringify(fieldName)}`);
  return `${field?.fieldName} = ${literal}`;
}

/** A value as SOQL writes it for a field of this type; undefined where the type does not take it. */
export function literalOf({ valueType }: FieldMetadata, value: unknown): string | undefined {
  const text = filterText(value);
  if (text === undefined) return undefined;
  if (valueType === 'boolean') return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined;
  if (valueType === 'int' || valueType === 'float')
    return /^-?\d{1,30}(?:\.\d{1,30})?$/.test(text) ? text : undefined;
  if (valueType === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
  return valueType === 'datetime' ? isoTime(text) : quoted(text);
}

function isoTime(text: string): string | undefined {
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? timeOf(text) : undefined;
  return at === undefined ? undefined : timeText(at);
}

/** A text between quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
