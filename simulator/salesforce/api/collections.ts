import { isObject, json, type JsonObject, type Reply } from '../../kit/index.ts';
import { apiError, itemErrors, writeError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import { findObject, type SObject } from '../schema/object-types.ts';
import { getRow, isDeleted, rollbackTo } from '../store/store.ts';
import {
  createRecord,
  deleteRecord,
  updateRecord,
  upsertMatches,
  upsertRecord,
  type WriteContext,
  type WriteResult,
} from '../store/write.ts';
import { asText } from '../text.ts';
import { isHidden } from '../users.ts';
import { objectBody, objectParam, param, writeContext, type ApiContext } from './context.ts';
import { externalField, namedFields, rowJson } from './rows.ts';

const maxRecords = 200;
const maxChunks = 10;
const maxRetrieve = 2000;

type Item = { object: SObject; record: JsonObject };
/** Writes one item; `seen` holds the keys of those before it. */
type WriteItem = (write: WriteContext, item: Item, seen: Set<string>) => WriteResult;

const rolledBack = writeError(
  'ALL_OR_NONE_OPERATION_ROLLED_BACK',
  'Record rolled back because not all records were valid and the request was using AllOrNone header',
);

/** POST /composite/sobjects */
export function createMany(context: ApiContext): Reply {
  return writeMany(context, (write, { object, record }) => createRecord(write, object, record), false);
}

/** PATCH /composite/sobjects */
export function updateMany(context: ApiContext): Reply {
  return writeMany(context, updateItem, false);
}

function updateItem(write: WriteContext, { object, record }: Item, seen: Set<string>): WriteResult {
  const key = Object.keys(record).find((name) => name.toLowerCase() === 'id');
  const id = key ? record[key] : undefined;
  if (typeof id !== 'string' || id === '') {
    return { ok: false, errors: [writeError('MISSING_ARGUMENT', 'Id not specified in an update call')] };
  }
  const full = normalizeId(id) ?? id;
  if (seen.has(full)) {
    return { ok: false, errors: [writeError('DUPLICATE_VALUE', `duplicate id in list: ${full}`, ['Id'])] };
  }
  seen.add(full);
  return updateRecord(write, object, id, record, ['Id']);
}

/** PATCH /composite/sobjects/{T}/{ExtField} */
export function upsertMany(context: ApiContext): Reply {
  const object = objectParam(context);
  const f = externalField(object, param(context, 'field'));
  const upsertItem: WriteItem = (write, item, seen) => {
    const key = Object.keys(item.record).find((name) => name.toLowerCase() === f.name.toLowerCase());
    const value = asText(key ? item.record[key] : '');
    if (item.object !== object) {
      return { ok: false, errors: [writeError('INVALID_TYPE', `${item.object.name} is not ${object.name}`)] };
    }
    if (value === '' || value === 'null') {
      return { ok: false, errors: [writeError('MISSING_ARGUMENT', `${f.name} not specified`, [f.name])] };
    }
    const text = f.caseSensitive ? value : value.toLowerCase();
    if (seen.has(text)) {
      const message = `Duplicate external id specified: ${value}`;
      return { ok: false, errors: [writeError('DUPLICATE_VALUE', message, [f.name])] };
    }
    seen.add(text);
    const ids = upsertMatches(write.store, object, f, value);
    if (ids.length < 2) return upsertRecord(write, object, f, value, item.record);
    const message = `${f.name}: more than one record found for external id field: [${ids.join(', ')}]`;
    return { ok: false, errors: [writeError('DUPLICATE_EXTERNAL_ID', message)] };
  };
  return writeMany(context, upsertItem, true);
}

/** Writes items in order; with allOrNone one failure takes all back, yet the status stays 200. */
function writeMany(context: ApiContext, writeItem: WriteItem, upsert: boolean): Reply {
  const body = objectBody(context);
  const items = readItems(context, body['records']);
  const mark = { undo: context.tx.undo.length, changes: context.tx.changes.length };
  const write = writeContext(context);
  const seen = new Set<string>();
  const results = items.map((item) => writeItem(write, item, seen));
  const failed = body['allOrNone'] === true && results.some((r) => !r.ok);
  if (failed) rollbackTo(context.tx, mark);
  return json(
    200,
    results.map((r) => itemOf(r, failed, upsert)),
  );
}

function itemOf(result: WriteResult, allFailed: boolean, upsert: boolean): JsonObject {
  if (!result.ok) {
    return { success: false, errors: itemErrors(result.errors), ...(upsert ? { created: false } : {}) };
  }
  const created = upsert ? { created: result.created } : {};
  if (allFailed) return { success: false, errors: itemErrors([rolledBack]), ...created };
  return { id: result.id, success: true, errors: [], ...created };
}

function readItems(context: ApiContext, records: unknown): Item[] {
  if (!Array.isArray(records)) {
    throw apiError(400, 'JSON_PARSER_ERROR', 'The HTTP entity body requires a list of records');
  }
  checkCount(records.length, maxRecords);
  const items = records.map((record: unknown) => readItem(context, record));
  const chunks = items.filter((item, i) => item.object !== items[i - 1]?.object).length;
  if (chunks > maxChunks) {
    const message = `The request has ${chunks} groups of one type, more than ${maxChunks}`;
    throw apiError(400, 'EXCEEDED_ID_LIMIT', message);
  }
  return items;
}

function readItem(context: ApiContext, record: unknown): Item {
  const attributes = isObject(record) ? record['attributes'] : undefined;
  const type = isObject(attributes) ? attributes['type'] : undefined;
  if (!isObject(record) || typeof type !== 'string') {
    throw apiError(400, 'JSON_PARSER_ERROR', 'The attributes of each record must name its type');
  }
  const object = findObject(context.org.schema, type);
  if (!object) throw apiError(400, 'INVALID_TYPE', `sObject type '${type}' is not supported.`);
  return { object, record };
}

function checkCount(count: number, max: number): void {
  if (count === 0) throw apiError(400, 'REQUIRED_FIELD_MISSING', 'At least 1 record is required');
  if (count <= max) return;
  const message = `record limit reached. cannot submit more than ${max} records into this call`;
  throw apiError(400, 'EXCEEDED_ID_LIMIT', message);
}

/** DELETE /composite/sobjects?ids=…&allOrNone= */
export function deleteMany(context: ApiContext): Reply {
  const { query } = context.call;
  const ids = splitIds(query.get('ids'));
  checkCount(ids.length, maxRecords);
  const mark = { undo: context.tx.undo.length, changes: context.tx.changes.length };
  const write = writeContext(context);
  const results = ids.map((id) => deleteById(context, write, id));
  const failed = query.get('allOrNone') === 'true' && results.some((r) => !r.ok);
  if (failed) rollbackTo(context.tx, mark);
  return json(
    200,
    results.map((r) => itemOf(r, failed, false)),
  );
}

function deleteById(context: ApiContext, write: WriteContext, id: string): WriteResult {
  const object = context.org.schema.byPrefix.get(id.slice(0, 3));
  if (object) return deleteRecord(write, object, id);
  return { ok: false, errors: [writeError('MALFORMED_ID', `malformed id ${id}`)] };
}

function splitIds(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

/** GET (`?ids=&fields=`) and POST (`{ids, fields}`) /composite/sobjects/{T}: input order, null for missing. */
export function retrieveMany(context: ApiContext): Reply {
  const object = objectParam(context);
  const { ids, fields } = retrieveInput(context);
  if (fields.length === 0) throw apiError(400, 'REQUIRED_FIELD_MISSING', 'At least 1 field is required');
  checkCount(ids.length, maxRetrieve);
  const columns = namedFields(object, fields);
  return json(
    200,
    ids.map((raw) => {
      const id = normalizeId(raw);
      const row = id ? getRow(context.org.store, object, id) : undefined;
      const isSeen = row && !isDeleted(row) && !isHidden(context.org, context.userId, object, row);
      return isSeen ? rowJson(context, object, columns, row) : null;
    }),
  );
}

function retrieveInput(context: ApiContext): { ids: string[]; fields: string[] } {
  const { query, method } = context.call;
  if (method !== 'POST') return { ids: splitIds(query.get('ids')), fields: splitIds(query.get('fields')) };
  const { ids, fields } = objectBody(context);
  if (!Array.isArray(ids) || !Array.isArray(fields))
    throw apiError(400, 'JSON_PARSER_ERROR', 'ids and fields must be lists');
  return { ids: ids.map(asText), fields: fields.map(asText) };
}
