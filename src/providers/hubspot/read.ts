import type { HttpAnswer } from '../../kit/http/client.ts';
import { bodyOf, isObject, isSuccess, objectsOf, type JsonObject } from '../answer.ts';
import type {
  ProviderRequest,
  ReadAbility,
  ReadJudgement,
  ReadPage,
  ReadQuery,
  ReadRecord,
} from '../connector.ts';
import { invalidCall, type Failure } from '../failure.ts';
import { countOf, isWithin, passes, recordsWithIds, refusalOfQuery, timeOf, timeTextOf } from '../read.ts';
import { failureOf, failureOfEntry } from './failure.ts';
import { idOfMerges, mergedIds, mergedInto, mergesBehind, tellsOfMerges } from './merges.ts';
import { isOwners } from './owners.ts';
import { faultOfObjectName, objectPath, recordId } from './paths.ts';
import { firstOfSearch, idBehind, placeBehind, placeInList } from './place.ts';
import {
  isNarrow,
  listPath,
  longestSearch,
  mergedField,
  mergesBody,
  modifiedField,
  pageLimit,
  readProperties,
  searchBody,
  unsentFilters,
  wayOf,
} from './read-request.ts';
import { restIn } from './records.ts';

const largestPage = 200;
const detailsPerRead = 100;

/**
 * By search, sorted by id and each page a search of its own behind the last id: so no page meets the limit of 10,000 results,
 * and neither equal times nor changes while it goes on move a record past it. By the list where search cannot find the
 * records (archived ones, an object without a time of change) and where everything is wanted. Those that were merged into
 * others are deleted, too: a search for the others follows on the list of archived ones.
 */
export const read: ReadAbility = {
  largestPage,
  // The search index is late by seconds, at times by more.
  lagMs: 120_000,
  refusal,
  begin: (query) => (wayOf(query) === 'search' ? firstOfSearch : ''),
  build(query, cursor) {
    const lastId = idOfMerges(cursor);
    if (lastId !== undefined) return searchRequest(query, mergesBody(query, lastId));
    if (wayOf(query) !== 'search') return { method: 'GET', path: listPath(query, placeInList(cursor)) };
    return searchRequest(query, searchBody(query, idBehind(cursor)));
  },
  judge,
  buildCount(query) {
    if (query.deleted || !modifiedField(query.object)) return undefined;
    return searchRequest(query, { ...searchBody(query, '0'), limit: 1, properties: [] });
  },
  judgeCount(answer) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const count = isObject(body) ? countOf(body['total']) : undefined;
    return count === undefined ? { failure: failureOf(answer) } : { count };
  },
};

function refusal(query: ReadQuery): Failure | undefined {
  const fault = faultOfObjectName(query.object.name) ?? refusalOfQuery(query);
  if (fault || wayOf(query) !== 'search') return fault;
  if (JSON.stringify(searchBody(query, '9'.repeat(30))).length <= longestSearch) return undefined;
  return invalidCall(`the filters are longer than the ${longestSearch} characters that HubSpot takes`);
}

function searchRequest({ object }: ReadQuery, body: JsonObject): ProviderRequest {
  return { method: 'POST', path: objectPath(object.name, '/search'), body };
}

function judge(query: ReadQuery, cursor: string, answers: readonly HttpAnswer[]): ReadJudgement {
  const [answer, ...details] = answers;
  if (!answer) throw new Error('a page is judged by its answer');
  const listed = rowsIn(answer);
  if (!listed) return { failure: failureOf(answer) };
  const more = nextOf(query, cursor, listed);
  if (!more) return { failure: failureOf(answer) };
  if (idOfMerges(cursor) !== undefined) return mergesPage(query, listed.rows, answer, more);
  if (!isNarrow(query)) return pageOf(query, listed.rows, answer, more);
  const ids = listed.rows.map(({ id }) => id);
  if (details.length === 0 && ids.length > 0) return { ask: detailRequests(query, ids) };
  return detailedPage(query, new Set(ids), details, more);
}

interface Row {
  id: string;
  raw: JsonObject;
}
interface Listed {
  rows: Row[];
  /** The list's own cursor; a search tells by it that there is more. */
  after: string | undefined;
}

function rowsIn(answer: HttpAnswer): Listed | undefined {
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  if (!isObject(body)) return undefined;
  const rows = recordsWithIds(body['results'], 'id', recordId);
  const rest = restIn(body);
  return rows && rest && { rows, after: rest.after };
}

/** Where the next page begins, if there is one. Undefined for a page that leads to itself, which would never end. */
function nextOf(query: ReadQuery, cursor: string, listed: Listed): { next?: string } | undefined {
  const lastOfMerges = idOfMerges(cursor);
  if (lastOfMerges !== undefined) {
    const more = behindIds(query, lastOfMerges, listed);
    return more?.next === undefined ? more : { next: mergesBehind(more.next) };
  }
  if (wayOf(query) === 'search') {
    const more = behindIds(query, idBehind(cursor), listed);
    return more?.next === undefined ? more : { next: placeBehind(more.next) };
  }
  const { after } = listed;
  if (after === undefined) return query.deleted && tellsOfMerges(query) ? { next: mergesBehind('0') } : {};
  return after === placeInList(cursor) ? undefined : { next: after };
}

/** The same of a search behind an id. */
function behindIds(query: ReadQuery, lastId: string, { rows, after }: Listed): { next?: string } | undefined {
  const ids = rows.map(({ id }) => BigInt(id));
  if (ids.some((id) => id <= BigInt(lastId))) return undefined;
  if (ids.length === 0 || (after === undefined && ids.length < pageLimit(query))) return {};
  return { next: ids.reduce((most, id) => (id > most ? id : most)).toString() };
}

/** The values of the records by their ids, where a list or a search has no room to name the properties. */
export function detailRequests(query: ReadQuery, ids: readonly string[]): ProviderRequest[] {
  const parts = Array.from({ length: Math.ceil(ids.length / detailsPerRead) }, (_part, at) =>
    ids.slice(at * detailsPerRead, (at + 1) * detailsPerRead),
  );
  return parts.map((part) => ({
    method: 'POST',
    path: objectPath(query.object.name, `/batch/read${query.deleted ? '?archived=true' : ''}`),
    body: {
      inputs: part.map((id) => ({ id })),
      properties: [...new Set([...readProperties(query), mergedField])],
    },
  }));
}

/**
 * A record that was archived in between is missing from the details, and is left out. One that was merged is told as what came of it,
 * which is read by itself.
 */
export function detailedPage(
  query: ReadQuery,
  asked: ReadonlySet<string>,
  details: readonly HttpAnswer[],
  more: { next?: string },
): { page: ReadPage } | { failure: Failure } {
  const records = new Map<string, ReadRecord>();
  for (const answer of details) {
    const failure = failureOfDetails(answer);
    if (failure) return { failure };
    const rows = rowsIn(answer)?.rows;
    if (!rows?.every((row) => asked.has(row.id) || isMadeOf(row, asked)))
      return { failure: failureOf(answer) };
    const own = rows.filter(({ id }) => asked.has(id));
    const part = pageOf(query, own, answer, {});
    if (!('page' in part)) return part;
    for (const record of part.page.records) records.set(record.id, record);
  }
  return { page: { records: [...records.values()], ...more } };
}

function isMadeOf({ raw: { properties } }: Row, asked: ReadonlySet<string>): boolean {
  const merged = isObject(properties) ? mergedIds(properties) : undefined;
  return merged?.some((id) => asked.has(id)) ?? false;
}

/** What is not there is an entry under `errors`; any other entry leaves something unread. */
export function failureOfDetails(answer: HttpAnswer): Failure | undefined {
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  const entries = isObject(body) ? objectsOf(body['errors']) : [];
  return entries
    .map((entry) => failureOfEntry(entry, answer.status))
    .find(({ category }) => category !== 'notFound');
}

/** What was merged into records that stand. */
function mergesPage(
  query: ReadQuery,
  rows: readonly Row[],
  answer: HttpAnswer,
  more: { next?: string },
): { page: ReadPage } | { failure: Failure } {
  const judged = pageOf({ ...query, deleted: false }, rows, answer, {});
  if ('failure' in judged) return judged;
  const merged = judged.page.records.map(mergedInto);
  const isKnown = merged.every((some) => some !== undefined);
  if (!isKnown || merged.some(({ length }) => length === 0)) return { failure: failureOf(answer) };
  return { page: { records: merged.flat(), ...more } };
}

function pageOf(
  query: ReadQuery,
  rows: readonly Row[],
  answer: HttpAnswer,
  more: { next?: string },
): { page: ReadPage } | { failure: Failure } {
  const found = rows.map((row) => recordOf(query, row));
  if (!found.every((one) => one !== undefined)) return { failure: failureOf(answer) };
  const records = found
    .filter(
      ({ at, record }) => isWithin(query, at) && passes(query.object, unsentFilters(query), record.fields),
    )
    .map(({ record }) => record);
  // One that was made by a merge and deleted since is not found among those that stand.
  const merged = query.deleted ? records.map(mergedInto) : [];
  if (!merged.every((some) => some !== undefined)) return { failure: failureOf(answer) };
  return { page: { records: [...records, ...merged.flat()], ...more } };
}

function recordOf(query: ReadQuery, { id, raw }: Row): { at: number; record: ReadRecord } | undefined {
  const fields = isOwners(query.object.name) ? raw : raw['properties'];
  if (!isObject(fields)) return undefined;
  const changed = query.deleted ? raw['archivedAt'] : fields[modifiedField(query.object) ?? ''];
  const own = timeOf(changed);
  const at = own ?? timeOf(raw['updatedAt']);
  if (at === undefined) return undefined;
  const version = timeTextOf(at, own === undefined ? raw['updatedAt'] : changed);
  return { at, record: { id, version, fields, raw } };
}
