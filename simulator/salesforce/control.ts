import { isObject, type Counts, type JsonObject } from '../kit/index.ts';
import { ApiError } from './errors.ts';
import type { Org } from './org.ts';
import type { QuotaNumbers } from './quota.ts';
import type { Field } from './schema/fields.ts';
import {
  addField,
  addObject,
  customField,
  findObject,
  removeField,
  type SObject,
} from './schema/object-types.ts';
import { normalizeId } from './ids.ts';
import { getRow, isDeleted, rollbackTo, scan, transaction, type Transaction } from './store/store.ts';
import { createRecord, deleteRecord, updateRecord, type WriteContext } from './store/write.ts';
import { adminUsername, ensureUser } from './users.ts';
import { asText } from './text.ts';
import { fieldValue } from './soql/render.ts';

/** `POST /__sim/quotas`: the numbers, and `usedApiRequests` to pretend a day's use. */
export function setQuotas(org: Org, input: JsonObject): JsonObject {
  const now = org.ground.clock.now();
  const names: (keyof QuotaNumbers)[] = ['dailyApiRequests', 'concurrentRequests', 'concurrentBusy'];
  for (const name of names) {
    const value = input[name];
    if (value !== undefined) org.quota.numbers[name] = positive(name, value);
  }
  const used = input['usedApiRequests'];
  if (used !== undefined) org.quota.setUsed(positive('usedApiRequests', used), now);
  return { ...org.quota.numbers, usedApiRequests: org.quota.used(now) };
}

function positive(name: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw new Error(`${name} must be a number of 0 or more`);
}

/** `POST /__sim/settings`: any of `Settings`, each of the type it has. */
export function setSettings(org: Org, input: JsonObject): JsonObject {
  const current: JsonObject = org.settings;
  for (const [name, value] of Object.entries(input)) {
    const known = current[name];
    if (known === undefined) continue;
    if (typeof known !== typeof value || Array.isArray(known) !== Array.isArray(value)) {
      throw new Error(`${name} must be ${Array.isArray(known) ? 'a list' : `a ${typeof known}`}`);
    }
    current[name] = value;
  }
  return { ...org.settings };
}

/** `POST /__sim/schema` `{objects: [{name, keyPrefix, fields}], fields: {T: [...]}, remove: {T: [names]}}`. */
export function changeSchema(org: Org, input: JsonObject): JsonObject {
  for (const one of list(input['objects'])) addNewObject(org, one);
  for (const [name, fields] of entries(input['fields'])) {
    const object = knownObject(org, name);
    for (const f of list(fields)) addField(object, newField(f));
  }
  for (const [name, names] of entries(input['remove'])) {
    const object = knownObject(org, name);
    if (Array.isArray(names)) for (const one of names) removeField(object, String(one));
  }
  org.schema.changedAt = org.ground.clock.now();
  return { objects: [...org.schema.objects.values()].map((o) => o.name) };
}

function addNewObject(org: Org, input: JsonObject): void {
  const { name, keyPrefix } = input;
  if (typeof name !== 'string' || typeof keyPrefix !== 'string' || !/^\w{3}$/.test(keyPrefix)) {
    throw new Error('an object needs a name and a keyPrefix of three characters');
  }
  const label = typeof input['label'] === 'string' ? { label: input['label'] } : {};
  addObject(org.schema, { name, keyPrefix, ...label, fields: list(input['fields']).map(newField) });
}

function newField(input: JsonObject): Field {
  if (typeof input['name'] !== 'string') throw new Error('a field needs a name');
  return customField(input as Partial<Field> & { name: string });
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((one: unknown) => isObject(one)) : [];
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function knownObject(org: Org, name: string): SObject {
  const object = findObject(org.schema, name);
  if (object) return object;
  throw new Error(`no object ${name}`);
}

/**
 * `POST /__sim/data` `{object, records: [...], action?: 'create'|'update'|'delete', commitAfterMs?}`; update and
 * delete go by `Id`. Read-only columns are taken too, so records may have been created and modified at any time.
 * With `commitAfterMs` the work is done now, with the stamps of now, and becomes visible after that time.
 */
export function addData(org: Org, input: JsonObject): JsonObject {
  const object = knownObject(org, String(input['object']));
  const write: WriteContext = {
    store: org.store,
    tx: transaction(),
    now: org.ground.clock.now(),
    userId: String(ensureUser(org, adminUsername)['Id']),
    allowSave: true,
    duplicateRules: [],
    locks: [],
    asSystem: true,
  };
  const ids = list(input['records']).map((record) => {
    const result = change(write, object, asText(input['action'] ?? 'create'), record);
    if (!result.ok) rollbackTo(write.tx, { undo: 0, changes: 0 });
    if (!result.ok)
      throw new ApiError(400, [{ errorCode: 'INVALID', message: result.errors[0]?.message ?? '' }]);
    return result.id;
  });
  const delay = input['commitAfterMs'];
  if (delay === undefined) report(org, write.tx);
  else hold(org, write.tx, write.now + positive('commitAfterMs', delay));
  return { ids };
}

function report(org: Org, tx: Transaction): void {
  for (const done of tx.changes) org.ground.ledger.effect(done);
}

/** Takes the work back until it is due; meanwhile its records are locked. */
function hold(org: Org, tx: Transaction, dueAt: number): void {
  const kept = { ...transaction(), redo: [...tx.redo], changes: [...tx.changes] };
  rollbackTo(tx, { undo: 0, changes: 0 });
  for (const done of kept.changes) org.store.held.add(done.id);
  org.open.push({ dueAt, tx: kept });
}

/** Commits the transactions whose time has come. */
export function settleOpen(org: Org): void {
  const now = org.ground.clock.now();
  const due = org.open.filter((one) => one.dueAt <= now);
  if (due.length === 0) return;
  org.open = org.open.filter((one) => one.dueAt > now);
  for (const { tx } of due) {
    for (const step of tx.redo) step();
    for (const done of tx.changes) org.store.held.delete(done.id);
    report(org, tx);
  }
}

/** Records by object, live and in the recycle bin. */
export function countData(org: Org): Counts {
  const counts: Counts = {};
  for (const object of org.schema.objects.values()) {
    const all = [...scan(org.store, object, true, org.ground.clock.now())];
    const deleted = all.filter((row) => isDeleted(row)).length;
    if (all.length > 0) counts[object.name] = { live: all.length - deleted, deleted };
  }
  return counts;
}

function change(
  write: WriteContext,
  object: SObject,
  action: string,
  record: JsonObject,
): ReturnType<typeof createRecord> {
  if (action === 'create') return createRecord(write, object, record);
  const id = String(record['Id']);
  return action === 'delete'
    ? deleteRecord(write, object, id)
    : updateRecord(write, object, id, record, ['Id']);
}

/** `GET /__sim/data/{object}[/{id}]`: records as stored, those in the recycle bin too. */
export function readData(org: Org, name: string, id: string | undefined): JsonObject | undefined {
  const object = findObject(org.schema, name);
  if (!object) return undefined;
  if (id === undefined) {
    const rows = [...scan(org.store, object, true, org.ground.clock.now())];
    return { records: rows };
  }
  const row = getRow(org.store, object, normalizeId(id) ?? id);
  if (!row) return undefined;
  return Object.fromEntries(object.fields.map((f) => [f.name, fieldValue(row, f)]));
}

/** The object a call is about, for faults that name one. */
export function objectOf(org: Org, target: string, text: string): string | undefined {
  const fromPath = /\/sobjects\/(\w+)/.exec(target)?.[1];
  const fromBody = /"(?:type|object)"\s*:\s*"(\w+)"/.exec(text)?.[1];
  const fromQuery = /\bfrom(?:\+|%20|\s)+(\w+)/i.exec(target)?.[1] ?? /\bfrom\s+(\w+)/i.exec(text)?.[1];
  const ids = /[?&]ids=(\w{3})/.exec(target)?.[1];
  for (const name of [fromPath, fromBody, fromQuery]) {
    const object = name ? findObject(org.schema, name) : undefined;
    if (object) return object.name;
  }
  return ids ? org.schema.byPrefix.get(ids)?.name : undefined;
}
