import type { JsonObject } from '../answer.ts';
import type { ReadFilter, ReadQuery } from '../connector.ts';
import { fieldNamed, filterText, knownFields, pageSize } from '../read.ts';
import { isOwners, ownersPath } from './owners.ts';
import { objectPath } from './paths.ts';

/** The most characters of a search's body. */
export const longestSearch = 3_000;
// A length that every server and proxy accepts.
const longestPath = 6_000;
const perPage = { search: 200, list: 100, archived: 100 };
// Of the six that a search takes, two bound the time and one holds the place.
const mostSearchFilters = 3;
/** What HubSpot adds to the properties of a record. */
const frame = 12;
/** The property that names the records that were merged into one, joined by `;`. */
export const mergedField = 'hs_merged_object_ids';

type Way = keyof typeof perPage;

/** The property that holds the time of the last change; undefined where the object has none. */
export function modifiedField({ name, fields }: ReadQuery['object']): string | undefined {
  const property = /^(?:contacts?|0-1)$/i.test(name) ? 'lastmodifieddate' : 'hs_lastmodifieddate';
  return Object.hasOwn(fields, property) ? property : undefined;
}

export function wayOf({ object, since, filters, deleted }: ReadQuery): Way {
  if (deleted) return 'archived';
  const wantsAll = since === undefined && filters.length === 0;
  return wantsAll || !modifiedField(object) ? 'list' : 'search';
}

/** The filters that are applied here. */
export function unsentFilters(query: ReadQuery): readonly ReadFilter[] {
  return query.filters.slice(wayOf(query) === 'search' ? mostSearchFilters : 0);
}

/** The properties that a record needs: those wanted, those filtered by here, the time of its change, and what was merged into one that is gone. */
export function readProperties({ object, fields, filters, deleted }: ReadQuery): string[] {
  const modified = modifiedField(object);
  const filtered = filters.map(({ fieldName }) => fieldName);
  const merged = deleted ? [mergedField] : [];
  return knownFields(object, [
    ...fields,
    ...filtered,
    ...(modified === undefined ? [] : [modified]),
    ...merged,
  ]);
}

/** Whether the properties have no room in the request, so that the values are read by id. */
export function isNarrow(query: ReadQuery): boolean {
  const properties = readProperties(query);
  if (wayOf(query) !== 'search') return listPathWith(query, '9'.repeat(30), properties).length > longestPath;
  return JSON.stringify(searchBodyWith(query, '9'.repeat(30), properties)).length > longestSearch;
}

export function pageLimit(query: ReadQuery): number {
  return pageSize(perPage[wayOf(query)], readProperties(query).length + frame, query.limit);
}

export function listPath(query: ReadQuery, after: string): string {
  return listPathWith(query, after, narrowed(query));
}

export function searchBody(query: ReadQuery, lastId: string): JsonObject {
  return searchBodyWith(query, lastId, narrowed(query));
}

/** Asks for the records that others were merged into, with what was. */
export function mergesBody(query: ReadQuery, lastId: string): JsonObject {
  const properties = knownFields(query.object, [mergedField, modifiedField(query.object) ?? '']);
  return searchBodyOf(query, lastId, properties, [{ propertyName: mergedField, operator: 'HAS_PROPERTY' }]);
}

function narrowed(query: ReadQuery): string[] {
  const modified = modifiedField(query.object);
  if (!isNarrow(query)) return readProperties(query);
  return modified === undefined ? [] : [modified];
}

function listPathWith(query: ReadQuery, after: string, properties: readonly string[]): string {
  const parameters = new URLSearchParams({ limit: String(pageLimit(query)) });
  const hasProperties = properties.length > 0 && !isOwners(query.object.name);
  if (hasProperties) parameters.set('properties', properties.join(','));
  if (after !== '') parameters.set('after', after);
  if (query.deleted) parameters.set('archived', 'true');
  const search = `?${parameters.toString()}`;
  return isOwners(query.object.name) ? ownersPath + search : objectPath(query.object.name, search);
}

function searchBodyWith(query: ReadQuery, lastId: string, properties: readonly string[]): JsonObject {
  const conditions = query.filters.slice(0, mostSearchFilters).map((filter) => condition(query, filter));
  return searchBodyOf(query, lastId, properties, conditions);
}

function searchBodyOf(
  query: ReadQuery,
  lastId: string,
  properties: readonly string[],
  conditions: readonly JsonObject[],
): JsonObject {
  const { object, since, until } = query;
  const time = modifiedField(object);
  const bound = (operator: string, at: number): JsonObject => ({
    propertyName: time,
    operator,
    value: String(at),
  });
  return {
    filterGroups: [
      {
        filters: [
          { propertyName: 'hs_object_id', operator: 'GT', value: lastId },
          ...(since === undefined ? [] : [bound('GT', since)]),
          bound('LTE', until),
          ...conditions,
        ],
      },
    ],
    sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
    properties,
    limit: pageLimit(query),
  };
}

function condition({ object }: ReadQuery, { fieldName, value }: ReadFilter): JsonObject {
  const propertyName = fieldNamed(object, fieldName)?.fieldName ?? fieldName;
  return { propertyName, operator: 'EQ', value: filterText(value) ?? '' };
}
