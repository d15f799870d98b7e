import { empty, json, type Reply } from '../../kit/index.ts';
import { apiError, notFound, singleError, writeError, type WriteError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import { touchRecent } from '../org.ts';
import type { Field } from '../schema/fields.ts';
import { findField, type SObject } from '../schema/object-types.ts';
import { attributes, fieldValue } from '../soql/render.ts';
import { getRow, isDeleted, type Row } from '../store/store.ts';
import { parseDatetime } from '../store/times.ts';
import { createRecord, deleteRecord, updateRecord, upsertMatches, upsertRecord } from '../store/write.ts';
import { isHidden } from '../users.ts';
import { objectBody, objectParam, param, writeContext, type ApiContext } from './context.ts';

/** POST /sobjects/{T} */
export function createRow(context: ApiContext): Reply {
  const object = objectParam(context);
  const result = createRecord(writeContext(context), object, objectBody(context));
  if (!result.ok) throw singleError(result.errors);
  touchRecent(context.org, object, result.id);
  const location = `${context.base}/sobjects/${object.name}/${result.id}`;
  return json(201, { id: result.id, success: true, errors: [] }, { location });
}

/** GET /sobjects/{T}/{id}, with `?fields=` or all of them. */
export function readRow(context: ApiContext): Reply {
  const object = objectParam(context);
  const id = normalizeId(param(context, 'id'));
  const row = id ? getRow(context.org.store, object, id) : undefined;
  if (!row || isDeleted(row) || isHidden(context.org, context.userId, object, row)) throw notFound();
  return rowReply(context, object, row);
}

function rowReply(context: ApiContext, object: SObject, row: Row): Reply {
  const modified = modifiedAt(row);
  const since = Date.parse(context.call.headers['if-modified-since'] ?? '');
  const headers = { 'last-modified': new Date(modified).toUTCString() };
  if (since >= Math.floor(modified / 1000) * 1000) return empty(304, headers);
  touchRecent(context.org, object, String(row['Id']));
  return json(200, rowJson(context, object, chosenFields(context, object), row), headers);
}

/** A record with `attributes` first, as every row answer has it. */
export function rowJson(
  context: ApiContext,
  object: SObject,
  fields: Field[],
  row: Row,
): Record<string, unknown> {
  const out: Record<string, unknown> = { attributes: attributes(object, row['Id'], context.base) };
  for (const f of fields) out[f.name] = fieldValue(row, f);
  return out;
}

function chosenFields(context: ApiContext, object: SObject): Field[] {
  const wanted = context.call.query.get('fields');
  if (!wanted) return object.fields;
  return namedFields(object, wanted.split(','));
}

/** The columns of these names and Id; throws INVALID_FIELD at the first the object lacks. */
export function namedFields(object: SObject, names: string[]): Field[] {
  const chosen = new Set<Field>();
  for (const name of names) {
    const f = findField(object, name.trim());
    if (!f)
      throw apiError(
        400,
        'INVALID_FIELD',
        `No such column '${name.trim()}' on sobject of type ${object.name}`,
      );
    chosen.add(f);
  }
  const id = findField(object, 'Id');
  if (id) chosen.add(id);
  return [...chosen];
}

function modifiedAt(row: Row): number {
  return parseDatetime(String(row['SystemModstamp'])) ?? 0;
}

/** PATCH /sobjects/{T}/{id} */
export function updateRow(context: ApiContext): Reply {
  const object = objectParam(context);
  const body = objectBody(context);
  const id = normalizeId(param(context, 'id'));
  const row = id ? getRow(context.org.store, object, id) : undefined;
  const until = Date.parse(context.call.headers['if-unmodified-since'] ?? '');
  if (row && until < Math.floor(modifiedAt(row) / 1000) * 1000) {
    throw apiError(412, 'PRECONDITION_FAILED', 'The record was changed since the given time');
  }
  const result = updateRecord(writeContext(context), object, param(context, 'id'), body);
  if (!result.ok) throw singleError(result.errors.map(asSingle));
  touchRecent(context.org, object, result.id);
  return empty(204);
}

/** DELETE /sobjects/{T}/{id} */
export function deleteRow(context: ApiContext): Reply {
  const object = objectParam(context);
  const result = deleteRecord(writeContext(context), object, param(context, 'id'));
  if (!result.ok) throw singleError(result.errors.map(asSingle));
  return empty(204);
}

/** An id that never was is NOT_FOUND on a single record, INVALID_CROSS_REFERENCE_KEY in collections. */
function asSingle(error: WriteError): WriteError {
  if (error.statusCode !== 'INVALID_CROSS_REFERENCE_KEY' || error.status !== 404) return error;
  return writeError('NOT_FOUND', 'The requested resource does not exist', [], 404);
}

/** The field an upsert goes by; 404 unless it is an external id or another lookup key. */
export function externalField(object: SObject, name: string): Field {
  const f = findField(object, name);
  if (f && (f.externalId || f.idLookup)) return f;
  throw notFound(`Provided external ID field does not exist or is not accessible: ${name}`);
}

/**
 * PATCH /sobjects/{T}/{ExtField}/{value}: 201 created, 200 (204 before v46) changed, 300 ambiguous.
 * From v46 on the body says `created`; with `?updateOnly=true` nothing is created.
 */
export function upsertRow(context: ApiContext): Reply {
  const object = objectParam(context);
  const f = externalField(object, param(context, 'field'));
  const value = param(context, 'value');
  const body = objectBody(context);
  const named = Object.keys(body).find((key) => key.toLowerCase() === f.name.toLowerCase());
  if (named) {
    throw apiError(400, 'INVALID_FIELD', `The ${f.name} field should not be specified in the sobject data.`, [
      f.name,
    ]);
  }
  const ambiguous = ambiguousReply(context, object, f, value);
  if (ambiguous) return ambiguous;
  const updateOnly = context.call.query.get('updateOnly') === 'true';
  if (updateOnly && upsertMatches(context.org.store, object, f, value).length === 0) throw notFound();
  const result = upsertRecord(writeContext(context), object, f, value, body);
  if (!result.ok) throw singleError(result.errors.map(asSingle));
  touchRecent(context.org, object, result.id);
  const answer = { id: result.id, success: true, errors: [] as never[] };
  const told = context.version < 46 ? answer : { ...answer, created: result.created };
  if (result.created)
    return json(201, told, { location: `${context.base}/sobjects/${object.name}/${result.id}` });
  return context.version < 46 ? empty(204) : json(200, told);
}

function ambiguousReply(context: ApiContext, object: SObject, f: Field, value: string): Reply | undefined {
  const ids = upsertMatches(context.org.store, object, f, value);
  if (ids.length < 2) return undefined;
  return json(
    300,
    ids.map((id) => `${context.base}/sobjects/${object.name}/${id}`),
  );
}

/** GET and DELETE /sobjects/{T}/{ExtField}/{value} */
export function rowByKey(context: ApiContext): Reply {
  const object = objectParam(context);
  const f = externalField(object, param(context, 'field'));
  const value = param(context, 'value');
  const ambiguous = ambiguousReply(context, object, f, value);
  if (ambiguous) return ambiguous;
  const [id] = upsertMatches(context.org.store, object, f, value);
  const row = id ? getRow(context.org.store, object, id) : undefined;
  if (!id || !row) throw notFound();
  if (context.call.method !== 'DELETE') return rowReply(context, object, row);
  const result = deleteRecord(writeContext(context), object, id);
  if (!result.ok) throw singleError(result.errors);
  return empty(204);
}
