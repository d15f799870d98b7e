import type { HttpAnswer } from '../../kit/http/client.ts';
import { bodyOf, isObject, isSuccess, type JsonObject } from '../answer.ts';
import type { ReadAbility, ReadJudgement, ReadQuery, ReadRecord } from '../connector.ts';
import { invalidCall, type Failure } from '../failure.ts';
import {
  countOf,
  fieldNamed,
  isWithin,
  pageSize,
  recordsWithIds,
  refusalOfQuery,
  timeOf,
  timeText,
  versionByContent,
} from '../read.ts';
import { bulkBuild, bulkJudge, isBulk, startOfBulk } from './bulk-read.ts';
import { failureOf } from './failure.ts';
import { canonicalId } from './ids.ts';
import { faultOfObjectName, longestPath, queryPath, retrievePath } from './paths.ts';
import { columnsOf, exclusiveSince, literalOf, narrowColumns, quoted, sourceOf, stampField } from './soql.ts';

const largestPage = 2_000;
const longestId = 'z'.repeat(18);
const recordId = /^[a-z0-9]{15}(?:[a-z0-9]{3})?$/i;

/**
 * By SOQL, sorted by id and each page a query of its own behind the last id: equal times do not matter, and no locator of
 * Salesforce can expire. Of many records by a Bulk job. Where the fields are too many for a URL, they are read by id.
 */
export const read: ReadAbility = {
  largestPage,
  // A transaction lasts ten minutes at most, and its records carry the time of its beginning.
  lagMs: 600_000,
  refusal,
  begin: (query, large) => (large && fitsBulk(query) ? startOfBulk : ''),
  build(query, cursor) {
    if (isBulk(cursor)) return bulkBuild(query, cursor);
    return { method: 'GET', path: pagePath(query, cursor, isNarrow(query)) };
  },
  judge(query, cursor, answers) {
    const [answer, details] = answers;
    if (!answer) throw new Error('a page is judged by its answer');
    return isBulk(cursor)
      ? bulkJudge(query, cursor, answer, recordsOf)
      : judgePage(query, cursor, answer, details);
  },
  buildCount(query) {
    const path = queryPath(`SELECT COUNT() ${sourceOf(query)}`, query.deleted);
    return { method: 'GET', path };
  },
  judgeCount(answer) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const count = isObject(body) ? countOf(body['totalSize']) : undefined;
    return count === undefined ? { failure: failureOf(answer) } : { count };
  },
};

function refusal(query: ReadQuery): Failure | undefined {
  const { object, filters, deleted } = query;
  const fault = faultOfObjectName(object.name) ?? refusalOfQuery(query);
  if (fault) return fault;
  if (deleted && !Object.hasOwn(object.fields, 'IsDeleted')) {
    return invalidCall(`Salesforce keeps no deleted records of ${object.name}`);
  }
  for (const { fieldName, value } of filters) {
    const field = fieldNamed(object, fieldName);
    if (!field || literalOf(field, value) !== undefined) continue;
    return invalidCall(
      `the field ${field.fieldName} of ${object.name} is of the type ${field.valueType} and cannot be filtered by ${JSON.stringify(value)}`,
    );
  }
  if (pagePath(query, longestId, true).length <= longestPath) return undefined;
  return invalidCall(`the filters are longer than the ${longestPath} characters of a query's address`);
}

/** Whether the fields have no room in the address, so that the values are read by id. */
function isNarrow(query: ReadQuery): boolean {
  return pagePath(query, longestId, false).length > longestPath;
}

function pagePath(query: ReadQuery, lastId: string, narrow: boolean): string {
  const columns = narrow ? narrowColumns(query) : columnsOf(query);
  const source = sourceOf(query, lastId === '' ? [] : [`Id > ${quoted(lastId)}`]);
  const soql = `SELECT ${columns.join(', ')} ${source} ORDER BY Id LIMIT ${pageLimit(query)}`;
  return queryPath(soql, query.deleted);
}

function pageLimit(query: ReadQuery): number {
  // Each record has its attributes, and a compound field its parts.
  return pageSize(largestPage, columnsOf(query).length + 4, query.limit);
}

function judgePage(
  query: ReadQuery,
  cursor: string,
  answer: HttpAnswer,
  details: HttpAnswer | undefined,
): ReadJudgement {
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  const rows = isObject(body) ? recordsWithIds(body['records'], 'Id', recordId) : undefined;
  if (!isObject(body) || !rows || typeof body['done'] !== 'boolean') return { failure: failureOf(answer) };
  const last = rows.at(-1)?.id;
  // A page that ends where it began would never end.
  if (last !== undefined && canonicalId(last) === cursor) return { failure: failureOf(answer) };
  const isLast = last === undefined || (body['done'] && rows.length < pageLimit(query));
  const more = isLast ? {} : { next: canonicalId(last) };
  // What is deleted cannot be read by its id.
  if (!isNarrow(query) || query.deleted || rows.length === 0) {
    const raws = rows.map(({ raw }) => raw);
    return pageOf(recordsOf(query, raws), answer, more);
  }
  const ids = rows.map(({ id }) => id);
  if (!details) {
    const path = retrievePath(query.object.name);
    return { ask: [{ method: 'POST', path, body: { ids, fields: columnsOf(query) } }] };
  }
  return pageOf(detailed(query, ids, details), details, more);
}

function pageOf(
  records: ReadRecord[] | undefined,
  answer: HttpAnswer,
  more: { next?: string },
): ReadJudgement {
  return records ? { page: { records, ...more } } : { failure: failureOf(answer) };
}

/** In the order of the ids, null for one that was deleted in between. */
function detailed(query: ReadQuery, ids: readonly string[], answer: HttpAnswer): ReadRecord[] | undefined {
  const items = isSuccess(answer) ? bodyOf(answer) : undefined;
  if (!Array.isArray(items) || items.length !== ids.length) return undefined;
  const found = ids.flatMap((id, at) => (items[at] === null ? [] : [{ id, item: items[at] as unknown }]));
  const raws = found.map(({ id, item }) => {
    const own = isObject(item) ? item['Id'] : undefined;
    return isObject(item) && typeof own === 'string' && canonicalId(own) === canonicalId(id)
      ? item
      : undefined;
  });
  return raws.every((raw) => raw !== undefined) ? recordsOf(query, raws) : undefined;
}

/** The records asked for; undefined where one of them does not say what it is. */
function recordsOf(query: ReadQuery, raws: readonly JsonObject[]): ReadRecord[] | undefined {
  const stamp = stampField(query.object);
  const since = exclusiveSince(query);
  const window = since === undefined ? query : { ...query, since };
  const records: ReadRecord[] = [];
  for (const raw of raws) {
    const id = raw['Id'];
    if (typeof id !== 'string' || !recordId.test(id)) return undefined;
    const at = stamp === undefined ? undefined : timeOf(raw[stamp]);
    if (stamp !== undefined && at === undefined) return undefined;
    if (at !== undefined && !isWithin(window, at)) continue;
    const version = at === undefined ? versionByContent(raw) : timeText(at);
    records.push({ id: canonicalId(id), version, fields: raw, raw });
  }
  return records;
}

const notInBulk = new Set(['address', 'location', 'base64']);

/** Bulk results are flat: no compound field, nothing binary. */
function fitsBulk(query: ReadQuery): boolean {
  return columnsOf(query).every((name) => !notInBulk.has(query.object.fields[name]?.providerType ?? ''));
}
