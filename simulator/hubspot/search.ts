import { json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { isObject } from '../kit/index.ts';
import { strings } from './batch.ts';
import { invalid, isRefusal } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { renderRead } from './render.ts';
import { comparable, compareValues, compileGroups, tokenTest } from './search-filter.ts';
import type { Test } from './search-filter.ts';
import type { Table } from './store.ts';
import type { ObjectType, Property, Row } from './types.ts';
import { textOf } from './write.ts';

const MAX_LIMIT = 200;
const MAX_RESULTS = 10_000;
const MAX_BODY = 3000;
const CACHED = 8;

/** POST …/search: at most 200 a page and 10,000 in all, on what the index holds. */
export function searchObjects(hub: Hub, type: ObjectType, { call, body, access }: HubCall): Reply | Refusal {
  if (call.text.length > MAX_BODY)
    return invalid(`The request body must be shorter than ${MAX_BODY} characters`);
  const page = pageOf(body);
  if (isRefusal(page)) return page;
  const found = matching(hub, type, body);
  if (isRefusal(found)) return found;
  const rows = found.slice(page.offset, page.offset + page.limit);
  const wanted = { properties: strings(body['properties']) };
  const results = rows.map((row) => renderIndexed(renderRead(hub, type, row, access.grant.account, wanted)));
  const next = page.offset + page.limit;
  const paging = next < found.length ? { paging: { next: { after: String(next) } } } : {};
  return json(200, { total: found.length, results, ...paging });
}

/** The index does not know that a record was archived until it forgets it. */
function renderIndexed(body: JsonObject): JsonObject {
  const { archivedAt: _unknown, ...rest } = body;
  return { ...rest, archived: false };
}

function pageOf(body: JsonObject): { limit: number; offset: number } | Refusal {
  const limit = Number(textOf(body['limit']) ?? 10);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    return invalid(`limit must be between 1 and ${MAX_LIMIT}`);
  const after = textOf(body['after']) ?? '0';
  if (after !== '' && !/^\d+$/.test(after)) {
    return invalid(
      `Invalid input JSON: Cannot deserialize value of type \`int\` from String "${after}": not a valid \`int\` value`,
    );
  }
  const offset = Number(after);
  if (offset + limit > MAX_RESULTS)
    return invalid(`Paging past the first ${MAX_RESULTS} results of a search is not possible`);
  return { limit, offset };
}

type Found = { key: string; version: number; rows: Row[] };
const caches = new WeakMap<Table, Found[]>();

/** Matching rows in order; kept for the next page while the table does not change. */
function matching(hub: Hub, type: ObjectType, body: JsonObject): Row[] | Refusal {
  const table = tableOf(hub, type);
  table.settle();
  const { filterGroups, sorts, query } = body;
  const key = JSON.stringify([filterGroups, sorts, query]);
  const cache = caches.get(table) ?? [];
  const known = cache.find((one) => one.key === key && one.version === table.version);
  if (known) return known.rows;
  const test = compileGroups(hub, type, filterGroups);
  if (isRefusal(test)) return test;
  const order = compileSort(type, sorts);
  if (isRefusal(order)) return order;
  const matches = queryTest(type, textOf(query) ?? '');
  const rows = table.searchable().filter((row) => test(row) && matches(row));
  const sorted = order.property ? sortRows(rows, order.property, order.descending) : rows;
  if (!key.includes('associations.'))
    caches.set(table, [{ key, version: table.version, rows: sorted }, ...cache].slice(0, CACHED));
  return sorted;
}

/** `query` looks for words in the type's searchable properties. */
function queryTest(type: ObjectType, query: string): Test {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => tokenTest(`${word}*`));
  if (words.length === 0) return () => true;
  return (row) => words.every((word) => type.searchable.some((name) => word(row.indexed?.[name] ?? '')));
}

type Order = { property: Property | undefined; descending: boolean };

/** One sort: an object, or a name with `-` before it for descending. */
function compileSort(type: ObjectType, given: unknown): Order | Refusal {
  const sorts: unknown[] = Array.isArray(given) ? given : [];
  if (sorts.length > 1) return invalid('Only one sort is supported');
  const [sort] = sorts;
  if (sort === undefined) return { property: undefined, descending: false };
  const object = isObject(sort);
  const text = object ? (textOf(sort['propertyName']) ?? '') : (textOf(sort) ?? '');
  const descending = object ? sort['direction'] === 'DESCENDING' : text.startsWith('-');
  const name = object ? text : text.replace(/^-/, '');
  const property = type.properties.get(name);
  return property ? { property, descending } : invalid(`Property "${name}" does not exist on ${type.plural}`);
}

/** Records without a value come last; equal ones by id. */
function sortRows(rows: Row[], property: Property, descending: boolean): Row[] {
  const keyed = rows.map((row) => {
    const value = row.indexed?.[property.name];
    return { row, key: value === undefined ? undefined : comparable(property, value), id: Number(row.id) };
  });
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined) || a.id - b.id;
    const order = compareValues(a.key, b.key);
    return (descending ? -order : order) || a.id - b.id;
  });
  return keyed.map((one) => one.row);
}
