import { isObject } from '../kit/index.ts';
import type { Counts, JsonObject } from '../kit/index.ts';
import { strings } from './batch.ts';
import { controlOwners, OWNERS, readOwners } from './control-owners.ts';
import { isRefusal } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub } from './hub.ts';
import { installProperty, planProperty } from './properties.ts';
import { addCustomType } from './schemas.ts';
import type { ObjectType, Row } from './types.ts';
import { timeOf } from './values.ts';
import { archiveRow, linkRecords, textOf } from './write.ts';

/** POST /__sim/settings: searchLagMs, searchLagJitterMs, freezeIndex, shuffle, echoTraceId, enforceRequired, goneAccounts, accessLifeMs. */
export function controlSettings(hub: Hub, input: JsonObject): JsonObject {
  const { settings } = hub;
  for (const name of ['searchLagMs', 'searchLagJitterMs', 'accessLifeMs'] as const) {
    const value = input[name];
    if (typeof value === 'number') settings[name] = value;
  }
  for (const name of ['freezeIndex', 'shuffle', 'echoTraceId', 'enforceRequired'] as const) {
    const value = input[name];
    if (typeof value === 'boolean') settings[name] = value;
  }
  if (Array.isArray(input['goneAccounts'])) settings.goneAccounts = input['goneAccounts'].map(String);
  return { ...settings };
}

/**
 * POST /__sim/schema: `{object, properties, required?}` adds properties to an object,
 * `{objects: [...]}` makes custom objects in the shape of the schemas API.
 */
export function controlSchema(hub: Hub, input: JsonObject): JsonObject {
  const objects = objectsIn(input['objects']).map((one) => orThrow(addCustomType(hub, one)));
  const name = textOf(input['object']);
  if (name === undefined)
    return { objects: objects.map((one) => ({ name: one.plural, objectTypeId: one.typeId })) };
  const type = typeOf(hub, name);
  for (const one of objectsIn(input['properties']))
    installProperty(hub, type, orThrow(planProperty(hub, type, one)));
  if (Array.isArray(input['required'])) type.required = strings(input['required']);
  return { object: type.plural, properties: [...type.properties.keys()] };
}

/**
 * POST /__sim/data: `{object, records: [{id?, properties, createdAt?, updatedAt?, archived?}], delete?: [ids],
 * associate?, disassociate?: [{id, to, toIds}]}`, unchecked, also of `owners`. A record whose id is known is updated; times
 * are ISO 8601 or ms.
 */
export function controlData(hub: Hub, input: JsonObject): JsonObject {
  if (input['object'] === OWNERS) return controlOwners(hub, input);
  const type = typeOf(hub, textOf(input['object']) ?? '');
  const ids = objectsIn(input['records']).map((one) => putRecord(hub, type, one).id);
  for (const id of strings(input['delete'])) {
    const row = tableOf(hub, type).get(id);
    if (row) archiveRow(hub, type, row);
  }
  for (const one of objectsIn(input['associate'])) associate(hub, type, one);
  for (const one of objectsIn(input['disassociate'])) disassociate(hub, type, one);
  return { object: type.plural, ids };
}

function associate(hub: Hub, from: ObjectType, { id, to, toIds }: JsonObject): void {
  const type = hub.portal.links.types.unlabelled(from, typeOf(hub, textOf(to) ?? ''));
  for (const toId of strings(toIds)) linkRecords(hub, type, textOf(id) ?? '', toId);
}

function disassociate(hub: Hub, from: ObjectType, { id, to, toIds }: JsonObject): void {
  const other = typeOf(hub, textOf(to) ?? '');
  for (const toId of strings(toIds)) hub.portal.links.remove(from, textOf(id) ?? '', other, toId);
}

function putRecord(hub: Hub, type: ObjectType, input: JsonObject): Row {
  const table = tableOf(hub, type);
  const given = isObject(input['properties']) ? input['properties'] : {};
  const values = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, textOf(value) ?? String(value)]),
  );
  const id = textOf(input['id']);
  const known = id === undefined ? undefined : table.get(id);
  const now = hub.ground.clock.now();
  if (known) table.update(known, values, now);
  const row = known ?? table.insert(values, now, id);
  hub.ground.ledger.effect({
    kind: known ? 'update' : 'create',
    object: type.plural,
    id: row.id,
    fields: values,
  });
  const times = timesIn(input);
  if (Object.keys(times).length > 0) table.date(row, times);
  if (input['archived'] === true) archiveRow(hub, type, row);
  return row;
}

function timesIn(input: JsonObject): { createdAt?: number; updatedAt?: number } {
  const times: { createdAt?: number; updatedAt?: number } = {};
  for (const name of ['createdAt', 'updatedAt'] as const) {
    const text = textOf(input[name]);
    if (text === undefined) continue;
    const ms = timeOf(text);
    if (ms === undefined) throw new Error(`${name} is not a time: ${text}`);
    times[name] = ms;
  }
  return times;
}

/** Records by object, live and archived. */
export function countData(hub: Hub): Counts {
  const counts: Counts = {};
  for (const [type, { rows }] of hub.portal.tables) {
    const deleted = rows.filter((row) => row.archived).length;
    counts[type.plural] = { live: rows.length - deleted, deleted };
  }
  return counts;
}

/** GET /__sim/data/{object}[/{id}]: records as they are stored, archived ones included. */
export function readData(hub: Hub, object: string, id?: string): JsonObject | undefined {
  if (object === OWNERS) return readOwners(hub, id);
  const type = hub.portal.schema.find(object);
  if (!type) return undefined;
  const table = tableOf(hub, type);
  if (id === undefined) return { count: table.rows.length, records: table.rows.map(show) };
  const row = table.get(id);
  return row && { ...show(row), associations: associationsOf(hub, type, row) };
}

function show(row: Row): JsonObject {
  const { id, properties, archived, createdAt, updatedAt } = row;
  return { id, properties, archived, createdAt, updatedAt };
}

function associationsOf(hub: Hub, type: ObjectType, row: Row): JsonObject {
  const out: JsonObject = {};
  for (const to of hub.portal.schema.types) {
    const linked = hub.portal.links.of(type, row.id, to);
    if (linked.length === 0) continue;
    out[to.plural] = linked.map((one) => ({ id: one.id, typeIds: one.types.map((kind) => kind.typeId) }));
  }
  return out;
}

function typeOf(hub: Hub, name: string): ObjectType {
  const type = hub.portal.schema.find(name);
  if (!type) throw new Error(`no object ${name}`);
  return type;
}

function orThrow<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(String(value.body['message']));
  return value;
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : [];
}
