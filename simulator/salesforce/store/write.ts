import { writeError, type WriteError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import type { SObject } from '../schema/object-types.ts';
import { derive } from './derive.ts';
import { checkDuplicates, type DuplicateRule } from './duplicates.ts';
import { checkRecord } from './checks.ts';
import { readInput, type InputMode } from './input.ts';
import { planRemoval } from './removal.ts';
import {
  forget,
  getRow,
  inBin,
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
  /** The control API: columns that nobody else may set, such as the audit stamps, are taken as they come. */
  asSystem?: boolean;
};

export type WriteResult = { ok: true; id: string; created: boolean } | { ok: false; errors: WriteError[] };

const failed = (...errors: WriteError[]): WriteResult => ({ ok: false, errors });

export function createRecord(
  ctx: WriteContext,
  object: SObject,
  raw: Record<string, unknown>,
  skip: string[] = [],
): WriteResult {
  if (!object.createable && !ctx.asSystem) return failed(cannot(object, 'inserted'));
  const input = readInput(ctx.store, object, raw, modeOf(ctx, 'create'), skip);
  if (!input.ok) return failed(input.error);
  return insert(ctx, object, input.fields);
}

function modeOf(ctx: WriteContext, mode: 'create' | 'update'): InputMode {
  return ctx.asSystem ? 'system' : mode;
}

function cannot(object: SObject, done: 'inserted' | 'deleted'): WriteError {
  return writeError('INVALID_TYPE_FOR_OPERATION', `entity type cannot be ${done}: ${object.name}`);
}

/** The stamps of a write. The control API may set its own. */
function stamped(ctx: WriteContext, fields: Record<string, Value>, created: boolean): Record<string, Value> {
  const stamp = formatDatetime(ctx.now);
  const stamps: Record<string, Value> = {
    ...(created ? { CreatedDate: stamp, CreatedById: ctx.userId } : {}),
    LastModifiedDate: stamp,
    LastModifiedById: ctx.userId,
    SystemModstamp: stamp,
  };
  if (!ctx.asSystem) return stamps;
  // Stamps of the change that were not given take the time of the other one, or of `CreatedDate`.
  const given =
    fields['LastModifiedDate'] ?? fields['SystemModstamp'] ?? (created ? fields['CreatedDate'] : null);
  if (given) Object.assign(stamps, { LastModifiedDate: given, SystemModstamp: given });
  for (const name of Object.keys(stamps)) stamps[name] = fields[name] ?? stamps[name] ?? null;
  return stamps;
}

function insert(ctx: WriteContext, object: SObject, fields: Record<string, Value>): WriteResult {
  const draft: Record<string, Value> = { Id: null, ...presets(ctx, object) };
  for (const [name, value] of Object.entries(fields)) if (value !== null) draft[name] = value;
  const refused =
    missingRequired(object, draft) ??
    checkRecord(ctx.store, object, draft) ??
    duplicateValue(ctx.store, object, fields, undefined) ??
    checkDuplicates(ctx, object, draft) ??
    locked(ctx, object, undefined);
  if (refused) return failed(refused);
  const id = nextId(ctx.store, object);
  Object.assign(draft, { Id: id, IsDeleted: false, ...stamped(ctx, fields, true) });
  derive(ctx.store, object, draft, undefined, formatDatetime(ctx.now));
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
  const target = target18(ctx, object, rawId);
  if ('error' in target) return failed(target.error);
  const input = readInput(ctx.store, object, raw, modeOf(ctx, 'update'), skip);
  if (!input.ok) return failed(input.error);
  const draft: Record<string, Value> = { ...target.row, ...input.fields };
  const refused =
    missingRequired(object, draft) ??
    checkRecord(ctx.store, object, draft) ??
    duplicateValue(ctx.store, object, input.fields, target.id) ??
    checkDuplicates(ctx, object, draft, target.row) ??
    locked(ctx, object, target.id);
  if (refused) return failed(refused);
  Object.assign(draft, stamped(ctx, input.fields, false));
  derive(ctx.store, object, draft, target.row, formatDatetime(ctx.now));
  putRow(ctx.store, ctx.tx, object, target.id, draft);
  ctx.tx.changes.push({ kind: 'update', object: object.name, id: target.id, fields: input.fields });
  return { ok: true, id: target.id, created: false };
}

/** Moves one record and what belongs to it to the recycle bin; `hard` (bulk hardDelete) leaves no trace. */
export function deleteRecord(ctx: WriteContext, object: SObject, rawId: string, hard = false): WriteResult {
  if (!object.deletable) return failed(cannot(object, 'deleted'));
  const target = target18(ctx, object, rawId);
  if ('error' in target) return failed(target.error);
  const refused = locked(ctx, object, target.id);
  if (refused) return failed(refused);
  const plan = planRemoval(ctx.store, object, target.id, target.row);
  if (!plan.ok) return failed(plan.error);
  for (const one of plan.cleared)
    putRow(ctx.store, ctx.tx, one.object, one.id, { ...one.row, [one.field.name]: null });
  for (const one of plan.rows) {
    remove(ctx, one.object, one.id, one.row, hard);
    const fields: Record<string, Value> = one.id === target.id ? {} : { deletedWith: target.id };
    ctx.tx.changes.push({ kind: 'delete', object: one.object.name, id: one.id, fields });
  }
  return { ok: true, id: target.id, created: false };
}

function remove(ctx: WriteContext, object: SObject, id: string, before: Row, hard: boolean): void {
  if (hard) return forget(ctx.store, ctx.tx, object, id);
  const stamp = formatDatetime(ctx.now);
  const row = { ...before, IsDeleted: true, LastModifiedDate: stamp, SystemModstamp: stamp };
  putRow(ctx.store, ctx.tx, object, id, row);
  markDeleted(ctx.store, ctx.tx, object, id, ctx.now);
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

function target18({ store, now }: WriteContext, object: SObject, rawId: string): Target {
  const id = normalizeId(rawId);
  if (!id) return { error: writeError('MALFORMED_ID', `malformed id ${rawId}`, ['Id']) };
  if (id.slice(0, 3) !== object.keyPrefix) {
    return {
      error: writeError('MALFORMED_ID', `${object.label} ID: id value of incorrect type: ${id}`, ['Id']),
    };
  }
  const row = getRow(store, object, id);
  if (!row || (isDeleted(row) && !inBin(store, object, id, now)))
    return { error: gone('INVALID_CROSS_REFERENCE_KEY') };
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

/** A lock set by a test, or one that an uncommitted transaction holds. */
function locked(ctx: WriteContext, object: SObject, id: string | undefined): WriteError | undefined {
  if (id !== undefined && ctx.store.held.has(id)) return lockError(id);
  const lock = ctx.locks.find(
    (l) =>
      l.times > 0 &&
      (l.id === undefined || normalizeId(l.id) === id) &&
      (l.object === undefined || l.object.toLowerCase() === object.name.toLowerCase()),
  );
  if (!lock) return undefined;
  lock.times -= 1;
  return lockError(id);
}

function lockError(id: string | undefined): WriteError {
  const shown = id ? `: ${id}` : '';
  return writeError(
    'UNABLE_TO_LOCK_ROW',
    `unable to obtain exclusive access to this record or 1 records${shown}`,
    [],
  );
}
