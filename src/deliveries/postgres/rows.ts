import { storable as storableText } from '../../kit/storable.ts';
import { isExactNumber, parseJson } from '../../kit/json.ts';
import type { RecordKey } from '../kind.ts';
import { columnName } from './names.ts';

/** What a record of a message becomes; JSON as text. */
export interface Row {
  id: string;
  /** A time in its fixed form, so that its order is that of the text; empty where the version is none. */
  version: string;
  deleted: boolean;
  fields: string | null;
  associations: string | null;
  raw: string | null;
  /** By column. */
  values: ReadonlyMap<string, unknown>;
}

export interface Rows {
  /** Sorted by id, each id once. */
  rows: Row[];
  /** The mapped field behind each column; also of those that no record has. */
  fieldOf: ReadonlyMap<string, string>;
}

/** Where a text may hold what PostgreSQL's texts and numbers cannot; in most there is nothing. */
const suspicious = /\\u(?:0000|d[89a-f])|\d[eE][+-]?\d{4}|\d{1000}/i;
const longestNumber = 1_000;
const largestExponent = 1_000;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;

/**
 * The records of a message, of each the newest; undefined when they are not those that the keys tell. `mapped` are fields that have a
 * column whether a record names them or not.
 */
export function rowsOf(
  result: string,
  keys: readonly RecordKey[],
  mapped: readonly string[] = [],
): Rows | undefined {
  const parsed = parsedFrom(result);
  const entries = suspicious.test(result) ? storable(parsed) : parsed;
  if (!Array.isArray(entries) || entries.length !== keys.length) return undefined;
  const fieldOf = new Map(mapped.map((field) => [columnName(field), field]));
  const newest = new Map<string, Row>();
  for (const [at, key] of keys.entries()) {
    const entry: unknown = entries[at];
    if (!isObject(entry)) return undefined;
    const row = rowOf(entry, key, fieldOf);
    const known = newest.get(row.id);
    if (!known || known.version <= row.version) newest.set(row.id, row);
  }
  const rows = [...newest.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { rows, fieldOf };
}

function parsedFrom(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function rowOf(entry: Record<string, unknown>, key: RecordKey, fieldOf: Map<string, string>): Row {
  const mapped = isObject(entry['mappedFields']) ? entry['mappedFields'] : {};
  const values = new Map<string, unknown>();
  for (const [field, value] of Object.entries(mapped)) {
    const column = columnName(field);
    values.set(column, value);
    fieldOf.set(column, field);
  }
  return {
    id: storableText(key.id),
    version: versionOf(key.version),
    deleted: key.deleted,
    fields: textOf(entry['fields']),
    associations: textOf(entry['associations']),
    raw: textOf(entry['raw']),
    values,
  };
}

/** Only times have an order; of two other versions the message accepted later is the newer. */
export function versionOf(version: string): string {
  const at = timeForm.test(version) ? Date.parse(version) : Number.NaN;
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/**
 * The value as PostgreSQL can hold it: its texts have neither NUL nor halves of characters, which become U+FFFD, and its
 * numbers have an end, beyond which they become texts.
 */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (isExactNumber(value)) return isHuge(value.rawJSON) ? value.rawJSON : value;
  if (Array.isArray(value)) return value.map(storable);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storable(member)]),
  );
}

function isHuge(digits: string): boolean {
  const [, exponent = '0'] = /[eE]([+-]?\d+)$/.exec(digits) ?? [];
  return digits.length > longestNumber || Math.abs(Number(exponent)) > largestExponent;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}
