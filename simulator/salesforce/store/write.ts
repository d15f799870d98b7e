import { writeError, type WriteError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import type { SObject } from '../schema/object-types.ts';
import { derive } from './derive.ts';
import { checkDuplicates, type DuplicateRule } from './duplicates.ts';
import { readInput } from './input.ts';
import {
  forget,
  getRow,
  isDeleted,
  lookup,
  markDeleted,
  nextId,
  putRow,
  type Row,
  type Store,
  type Transaction,
  type Value,
} from './store.ts';
import { formatDatetime } from './times.ts';

/** While `times` lasts, writes of the record (or of any record of the object) meet a lock. */
export type LockRule = { id?: string; object?: string; times: number };

/** Who writes, when, under which rules and headers. */
export type WriteContext = {
  store: Store;
  tx: Transaction;
  now: number;
  userId: string;
  allowSave: boolean;
  duplicateRules: DuplicateRule[];
  locks: LockRule[];
};

export type WriteResult = { ok: true; id: string; created: boolean } | { ok: false; errors: WriteError[] };

const failed = (...errors: WriteError[]): WriteResult => ({ ok: false, errors });

/** Creates one record. */
export function createRecord(
  ctx: WriteContext,
  object: SObject,
  raw: Record<string, unknown>,
  skip: string[] = [],
): WriteResult {
  const input = readInput(ctx.store, object, raw, 'create', skip);
  if (!input.ok) return failed(input.error);
  return insert(ctx, object, input.fields);
}

function insert(ctx: WriteContext, object: SObject, fields: Record<string, Value>): WriteResult {
  const draft: Record<string, Value> = { Id: null, ...presets(ctx, object) };
  for (const [name, value] of Object.entries(fields)) if (value !== null) draft[name] = value;
  const refused =
    missingRequired(object, draft) ??
    duplicateValue(ctx.store, object, fields, undefined) ??
    checkDuplicates(ctx.store, ctx.duplicateRules, object, draft, ctx.allowSave) ??
    locked(ctx, object, undefined);
  if (refused) return failed(refused);
  const id = nextId(ctx.store, object);
  const stamp = formatDatetime(ctx.now);
  Object.assign(draft, {
    Id: id,
    IsDeleted: false,
    CreatedDate: stamp,
    CreatedById: ctx.userId,
    LastModifiedDate: stamp,
    LastModifiedById: ctx.userId,
    SystemModstamp: stamp,
  });
  derive(ctx.store, object, draft, undefined, stamp);
  putRow(ctx.store, ctx.tx, object, id, draft);
  ctx.tx.changes.push({ kind: 'create', object: object.name, id, fields });
  return { ok: true, id, created: true };
}

/** Changes one record by a 15- or 18-character id. */
export function updateRecord(
  ctx: WriteContext,
  object: SObject,
  rawId: string,
  raw: Record<string, unknown>,
  skip: string[] = [],
): WriteResult {
  const target = target18(ctx.store, object, rawId);
  if ('error' in target) return failed(target.error);
  const input = readInput(ctx.store, object, raw, 'update', skip);
  if (!input.ok) return failed(input.error);
  const stamp = formatDatetime(ctx.now);
  const draft: Record<string, Value> = { ...target.row, ...input.fields };
  const refused =
    missingRequired(object, draft) ??
    duplicateValue(ctx.store, object, input.fields, target.id) ??
    locked(ctx, object, target.id);
  if (refused) return failed(refused);
  Object.assign(draft, { LastModifiedDate: stamp, LastModifiedById: ctx.userId, SystemModstamp: stamp });
  derive(ctx.store, object, draft, target.row, stamp);
  putRow(ctx.store, ctx.tx, object, target.id, draft);
  ctx.tx.changes.push({ kind: 'update', object: object.name, id: target.id, fields: input.fields });
  return { ok: true, id: target.id, created: false };
}

/** Moves one record to the recycle bin; `hard` (bulk hardDelete) leaves no trace. */
export function deleteRecord(ctx: WriteContext, object: SObject, rawId: string, hard = false): WriteResult {
  const target = target18(ctx.store, object, rawId);
  if ('error' in target) return failed(target.error);
  const refused = locked(ctx, object, target.id);
  if (refused) return failed(refused);
  const stamp = formatDatetime(ctx.now);
  if (hard) forget(ctx.store, ctx.tx, object, target.id);
  else {
    const row = { ...target.row, IsDeleted: true, LastModifiedDate: stamp, SystemModstamp: stamp };
    putRow(ctx.store, ctx.tx, object, target.id, row);
    markDeleted(ctx.store, ctx.tx, object, target.id, ctx.now);
  }
  ctx.tx.changes.push({ kind: 'delete', object: object.name, id: target.id, fields: {} });
  return { ok: true, id: target.id, created: false };
}

/** Live ids an upsert by `f` would touch. */
export function upsertMatches(store: Store, object: SObject, f: Field, value: string): string[] {
  if (f.type !== 'id') return lookup(store, object, f, value);
  const id = normalizeId(value);
  const row = id ? getRow(store, object, id) : undefined;
  return id && row && !isDeleted(row) ? [id] : [];
}

/** Creates or changes the record whose `f` is `value`; the caller has dealt with several matches. */
export function upsertRecord(
  ctx: WriteContext,
  object: SObject,
  f: Field,
  value: string,
  raw: Record<string, unknown>,
): WriteResult {
  const [match] = upsertMatches(ctx.store, object, f, value);
  if (match) return updateRecord(ctx, object, match, raw, [f.name]);
  if (f.type === 'id') return failed(gone('NOT_FOUND'));
  return createRecord(ctx, object, { ...without(raw, f.name), [f.name]: value });
}

function without(raw: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([key]) => key.toLowerCase() !== name.toLowerCase()));
}

type Target = { id: string; row: Row } | { error: WriteError };

function target18(store: Store, object: SObject, rawId: string): Target {
  const id = normalizeId(rawId);
  if (!id) return { error: writeError('MALFORMED_ID', `malformed id ${rawId}`, ['Id']) };
  if (id.slice(0, 3) !== object.keyPrefix) {
    return {
      error: writeError('MALFORMED_ID', `${object.label} ID: id value of incorrect type: ${id}`, ['Id']),
    };
  }
  const row = getRow(store, object, id);
  if (!row) return { error: gone('INVALID_CROSS_REFERENCE_KEY') };
  return isDeleted(row) ? { error: gone('ENTITY_IS_DELETED') } : { id, row };
}

function gone(code: 'NOT_FOUND' | 'INVALID_CROSS_REFERENCE_KEY' | 'ENTITY_IS_DELETED'): WriteError {
  const message = code === 'ENTITY_IS_DELETED' ? 'entity is deleted' : 'invalid cross reference id';
  return writeError(code, message, [], 404);
}

function presets(ctx: WriteContext, object: SObject): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const f of object.fields) if (f.preset !== null) values[f.name] = f.preset;
  if (object.byName.has('ownerid')) values['OwnerId'] = ctx.userId;
  return values;
}

function missingRequired(object: SObject, draft: Record<string, Value>): WriteError | undefined {
  const missing = object.fields.filter(
    (f) => f.createable && !f.nillable && !f.defaultedOnCreate && (draft[f.name] ?? null) === null,
  );
  if (missing.length === 0) return undefined;
  const names = missing.map((f) => f.name);
  return writeError('REQUIRED_FIELD_MISSING', `Required fields are missing: [${names.join(', ')}]`, names);
}

function duplicateValue(
  store: Store,
  object: SObject,
  fields: Record<string, Value>,
  self: string | undefined,
): WriteError | undefined {
  for (const f of object.fields) {
    if (!f.unique || (fields[f.name] ?? null) === null) continue;
    const other = lookup(store, object, f, fields[f.name] ?? null).find((id) => id !== self);
    if (other) {
      const message = `duplicate value found: ${f.name} duplicates value on record with id: ${other}`;
      return writeError('DUPLICATE_VALUE', message, []);
    }
  }
  return undefined;
}

function locked(ctx: WriteContext, object: SObject, id: string | undefined): WriteError | undefined {
  const lock = ctx.locks.find(
    (l) =>
      l.times > 0 &&
      (l.id === undefined || normalizeId(l.id) === id) &&
      (l.object === undefined || l.object.toLowerCase() === object.name.toLowerCase()),
  );
  if (!lock) return undefined;
  lock.times -= 1;
  const shown = id ? `: ${id}` : '';
  return writeError(
    'UNABLE_TO_LOCK_ROW',
    `unable to obtain exclusive access to this record or 1 records${shown}`,
    [],
  );
}
