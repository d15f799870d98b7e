import { isObject } from '../kit/index.ts';
import type { JsonObject } from '../kit/index.ts';
import { badProperties, conflict, invalid, isRefusal, missingFields, refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { externalOptions, tableOf } from './hub.ts';
import type { Hub } from './hub.ts';
import type { LinkType } from './link-types.ts';
import { uniqueProperties } from './object-types.ts';
import { uniqueKey } from './store-views.ts';
import type { ObjectType, Row } from './types.ts';
import { checkValues } from './values.ts';

export type CreatePlan = {
  type: ObjectType;
  values: Record<string, string>;
  links: { type: LinkType; toId: string }[];
};
export type UpdatePlan = { type: ObjectType; row: Row; values: Record<string, string> };

/** Decides a creation. `claimed` holds the unique values of inputs before it in one batch. */
export function planCreate(
  hub: Hub,
  type: ObjectType,
  input: JsonObject,
  claimed = new Set<string>(),
): CreatePlan | Refusal {
  const given = input['properties'];
  if (given === undefined || given === null) return missingFields(['properties']);
  if (!isObject(given)) return invalid('properties must be an object');
  const { values, faults } = checkValues(type, given, undefined, externalOptions(hub));
  if (faults.length > 0) return badProperties(faults);
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  const missing = hub.settings.enforceRequired ? missingProperties(type, set) : [];
  if (missing.length > 0) return requiredRefusal(type, missing);
  const taken = uniqueRefusal(hub, type, set, undefined, claimed);
  if (taken) return taken;
  const links = planLinks(hub, type, input['associations']);
  return isRefusal(links) ? links : { type, values: set, links };
}

/** Stores a planned record and its associations. */
export function applyCreate(hub: Hub, plan: CreatePlan): Row {
  const { type, values, links } = plan;
  const row = tableOf(hub, type).insert(withDefaults(hub, type, values), hub.ground.clock.now());
  hub.ground.ledger.effect({ kind: 'create', object: type.plural, id: row.id, fields: values });
  for (const link of links) linkRecords(hub, link.type, row.id, link.toId);
  return row;
}

/** Decides an update; only changed values need to be unique. */
export function planUpdate(hub: Hub, type: ObjectType, row: Row, given: unknown): UpdatePlan | Refusal {
  if (!isObject(given)) return invalid('properties must be an object');
  const { values, faults } = checkValues(type, given, row, externalOptions(hub));
  if (faults.length > 0) return badProperties(faults);
  return uniqueRefusal(hub, type, values, row, new Set()) ?? { type, row, values };
}

export function applyUpdate(hub: Hub, plan: UpdatePlan): void {
  const { type, row, values } = plan;
  tableOf(hub, type).update(row, values, hub.ground.clock.now());
  hub.ground.ledger.effect({ kind: 'update', object: type.plural, id: row.id, fields: values });
}

/** Archives a record; its associations go, as they do at HubSpot. */
export function archiveRow(hub: Hub, type: ObjectType, row: Row): void {
  if (row.archived) return;
  tableOf(hub, type).archive(row, hub.ground.clock.now());
  hub.portal.links.dropRecord(type, row.id);
  hub.ground.ledger.effect({ kind: 'delete', object: type.plural, id: row.id });
}

export function linkRecords(hub: Hub, type: LinkType, fromId: string, toId: string): void {
  if (!hub.portal.links.add(type, fromId, toId)) return;
  const fields = { to: type.to.plural, toId, category: type.category, typeId: type.typeId };
  hub.ground.ledger.effect({ kind: 'associate', object: type.from.plural, id: fromId, fields });
}

/** A live row by id, or by the value of a unique property; a refusal when that property is not unique. */
export function findRow(
  hub: Hub,
  type: ObjectType,
  id: string,
  idProperty?: string | null,
): Row | undefined | Refusal {
  const table = tableOf(hub, type);
  if (!idProperty || idProperty === 'hs_object_id') {
    const row = table.current(id);
    return row?.archived ? undefined : row;
  }
  if (!uniqueProperties(type).some((one) => one.name === idProperty)) {
    return invalid(`Property ${idProperty} is not a unique identifier of ${type.plural}`);
  }
  return table.byUnique(idProperty, id);
}

function missingProperties(type: ObjectType, values: Record<string, string>): string[] {
  const missing = type.required.filter((name) => values[name] === undefined);
  const one = type.requiredOneOf;
  if (one.length > 0 && one.every((name) => values[name] === undefined)) missing.push(...one);
  return missing;
}

function requiredRefusal(type: ObjectType, missing: string[]): Refusal {
  const message = `Error creating ${type.singular.toUpperCase()}. Some required properties were not set.`;
  return invalid(message, {
    context: { properties: missing },
    errors: missing.map((name) => ({
      message: `Property "${name}" is required`,
      code: 'MISSING_REQUIRED_PROPERTY',
      context: { propertyName: [name] },
    })),
  });
}

function uniqueRefusal(
  hub: Hub,
  type: ObjectType,
  values: Record<string, string>,
  self: Row | undefined,
  claimed: Set<string>,
): Refusal | undefined {
  const table = tableOf(hub, type);
  for (const { name } of uniqueProperties(type)) {
    const value = values[name];
    if (!value) continue;
    const other = table.byUnique(name, value);
    if (other && other !== self) return takenRefusal(type, { name, value }, other.id);
    const claim = `${name}:${uniqueKey(value)}`;
    if (claimed.has(claim)) return takenRefusal(type, { name, value }, undefined);
    claimed.add(claim);
  }
  return undefined;
}

/** E-mail of contacts is a conflict; other unique properties are a validation error. */
function takenRefusal(
  type: ObjectType,
  { name, value }: { name: string; value: string },
  otherId: string | undefined,
): Refusal {
  if (name === 'email' && otherId) return conflict(type.singular, otherId);
  if (name === 'email') return refuse(409, 'Contact already exists.', 'CONFLICT');
  const coordinates = `PropertyValueCoordinates{objectTypeId=${type.typeId}, propertyName=${name}, value=${value}}`;
  const message = `Cannot set ${coordinates}. ${otherId ?? 'Another input of this batch'} already has that value.`;
  return badProperties([{ name, code: 'CONFLICTING_UNIQUE_VALUE', message }]);
}

function withDefaults(hub: Hub, type: ObjectType, values: Record<string, string>): Record<string, string> {
  const property = type.plural === 'deals' ? 'pipeline' : 'hs_pipeline';
  if (values[property] || !['deals', 'tickets'].includes(type.plural)) return values;
  const [first] = hub.portal.pipelines.get(type.plural) ?? [];
  return first ? { ...values, [property]: first.id } : values;
}

function planLinks(hub: Hub, from: ObjectType, given: unknown): CreatePlan['links'] | Refusal {
  const links: CreatePlan['links'] = [];
  for (const one of Array.isArray(given) ? (given as unknown[]) : []) {
    const toId = isObject(one) && isObject(one['to']) ? textOf(one['to']['id']) : undefined;
    const specs: unknown[] = isObject(one) && Array.isArray(one['types']) ? one['types'] : [];
    if (toId === undefined || specs.length === 0) return badLinks();
    for (const spec of specs) {
      const type = linkTypeOf(hub, from, spec);
      const row = type && tableOf(hub, type.to).get(toId);
      if (!type || !row || row.archived) return badLinks();
      links.push({ type, toId });
    }
  }
  return links;
}

/** The association type that a write names. A read uses other member names. */
export function linkTypeOf(hub: Hub, from: ObjectType, spec: unknown): LinkType | undefined {
  if (!isObject(spec)) return undefined;
  return hub.portal.links.types.find(
    from,
    textOf(spec['associationCategory']) ?? '',
    Number(spec['associationTypeId']),
  );
}

export function badLinks(): Refusal {
  return invalid('one or more associations are not valid');
}

/** An id as text, whether it came as a string or as a number. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
