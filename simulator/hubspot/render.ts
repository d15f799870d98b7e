import type { Call, JsonObject } from '../kit/index.ts';
import type { Hub } from './hub.ts';
import type { Links } from './links.ts';
import type { LinkType } from './link-types.ts';
import type { ObjectType, Row } from './types.ts';

/** What a read asks for. */
export type Wanted = { properties: string[]; history: string[]; associations: string[] };

/** Values of a repeatable query parameter that may also be a comma list. */
export function listParam(call: Call, name: string): string[] {
  return call.query
    .getAll(name)
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter(Boolean);
}

export function wantedOf(call: Call): Wanted {
  return {
    properties: listParam(call, 'properties'),
    history: listParam(call, 'propertiesWithHistory'),
    associations: listParam(call, 'associations'),
  };
}

/** A record as reads show it: unknown names are left out, unset ones are null. */
export function renderRead(
  hub: Hub,
  type: ObjectType,
  row: Row,
  account: string,
  wanted: Partial<Wanted> = {},
): JsonObject {
  const { properties = [], history = [], associations = [] } = wanted;
  const names = [...(properties.length > 0 || history.length > 0 ? properties : type.defaults), ...history];
  const shown: Record<string, string | null> = {};
  for (const name of names) {
    const property = type.properties.get(name);
    if (property && !property.archived) shown[name] = row.properties[name] ?? null;
  }
  const body = renderRow(type, row, { ...shown, ...systemOf(type, row) }, account);
  if (history.length > 0) body['propertiesWithHistory'] = historyOf(row, history);
  const linked = associations.length > 0 ? associationsOf(hub, type, row, associations) : {};
  return Object.keys(linked).length > 0 ? { ...body, associations: linked } : body;
}

/** The answer to a creation: everything that is set. */
export function renderCreated(type: ObjectType, row: Row, account: string): JsonObject {
  return renderRow(type, row, row.properties, account);
}

/** The answer to an update: what was changed, and the dates. */
export function renderUpdated(type: ObjectType, row: Row, changed: string[], account: string): JsonObject {
  const shown: Record<string, string | null> = {};
  for (const name of changed) shown[name] = row.properties[name] ?? null;
  return renderRow(type, row, { ...shown, ...systemOf(type, row) }, account);
}

function renderRow(
  type: ObjectType,
  row: Row,
  properties: Readonly<Record<string, string | null>>,
  account: string,
): JsonObject {
  const body: JsonObject = {
    id: row.id,
    properties,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    archived: row.archived,
    url: `https://app.hubspot.com/contacts/${account}/record/${type.typeId}/${row.id}`,
  };
  if (row.archivedAt !== undefined) body['archivedAt'] = new Date(row.archivedAt).toISOString();
  return body;
}

function systemOf(type: ObjectType, row: Row): Record<string, string | null> {
  const names = [type.createdProperty, type.modifiedProperty, 'hs_object_id'];
  return Object.fromEntries(names.map((name) => [name, row.properties[name] ?? null]));
}

function historyOf(row: Row, names: string[]): JsonObject {
  const out: JsonObject = {};
  for (const name of names) {
    const value = row.properties[name];
    const changes = row.history?.get(name) ?? (value === undefined ? [] : [{ value, at: row.createdAt }]);
    out[name] = changes.map((one) => ({
      value: one.value,
      timestamp: new Date(one.at).toISOString(),
      sourceType: 'INTEGRATION',
    }));
  }
  return out;
}

function associationsOf(hub: Hub, type: ObjectType, row: Row, names: string[]): JsonObject {
  const out: JsonObject = {};
  for (const name of names) {
    const to = hub.portal.schema.find(name);
    const linked = to ? hub.portal.links.of(type, row.id, to) : [];
    if (!to || linked.length === 0) continue;
    const results = linked.flatMap((one) =>
      one.types.map((kind) => ({ id: one.id, type: linkName(hub.portal.links, kind) })),
    );
    out[to.plural] = { results };
  }
  return out;
}

/** One entry per association type: where a primary one exists the plain one is `…_unlabeled`. */
export function linkName(links: Links, kind: LinkType): string {
  const base = `${kind.from.singular}_to_${kind.to.singular}`;
  if (kind.label !== null)
    return kind.label === 'Primary' ? base : `${base}_${kind.label.toLowerCase().replaceAll(' ', '_')}`;
  const hasPrimary = links.types.between(kind.from, kind.to).some((one) => one.label === 'Primary');
  return hasPrimary ? `${base}_unlabeled` : base;
}
