import { empty, isObject, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { strings } from './batch.ts';
import { invalid, isRefusal, missingFields, notFound, refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { DEFAULT_PORTAL } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { installProperty, planProperty } from './properties.ts';
import { addSystemProperties } from './object-types.ts';
import type { ObjectType } from './types.ts';
import { textOf } from './write.ts';

type Answer = Reply | Refusal;

const FIRST_CUSTOM_ID = 34_500_001;

export function listSchemas(hub: Hub, { call }: HubCall): Answer {
  const archived = call.query.get('archived') === 'true';
  const types = hub.portal.schema.types.filter((one) => one.custom && one.archived === archived);
  return json(200, { results: types.map((one) => renderSchema(hub, one)) });
}

/** Works for standard types too, as the source of their required properties. */
export function getSchema(hub: Hub, type: ObjectType): Answer {
  return json(200, renderSchema(hub, type));
}

export function createSchemaType(hub: Hub, { body }: HubCall): Answer {
  const type = addCustomType(hub, body);
  return isRefusal(type) ? type : json(201, renderSchema(hub, type));
}

/** Makes a custom object with its properties and associations. */
export function addCustomType(hub: Hub, input: JsonObject): ObjectType | Refusal {
  const name = textOf(input['name'])?.toLowerCase();
  if (!name) return missingFields(['name']);
  if (hub.portal.schema.find(name))
    return refuse(409, `An object named '${name}' already exists.`, 'OBJECT_ALREADY_EXISTS');
  const labels = isObject(input['labels']) ? input['labels'] : {};
  const type = newType(hub, name, {
    singular: textOf(labels['singular']) ?? name,
    plural: textOf(labels['plural']) ?? `${name}s`,
  });
  const [groupName] = type.groups.keys();
  addSystemProperties(type, groupName ?? '');
  const given: unknown[] = Array.isArray(input['properties']) ? input['properties'] : [];
  for (const one of given.filter(isObject)) {
    const property = planProperty(hub, type, { ...one, groupName });
    if (isRefusal(property)) return property;
    type.properties.set(property.name, property);
  }
  const refused = describe(type, input);
  if (refused) return refused;
  hub.portal.schema.add(type);
  for (const property of type.properties.values()) installProperty(hub, type, property);
  for (const other of strings(input['associatedObjects'])) {
    const to = hub.portal.schema.find(other);
    if (to) hub.portal.links.types.unlabelled(type, to);
  }
  return type;
}

function newType(hub: Hub, name: string, labels: ObjectType['labels']): ObjectType {
  const count = hub.portal.schema.types.filter((one) => one.custom).length;
  const groupName = `${name}_information`;
  return {
    typeId: `2-${FIRST_CUSTOM_ID + count}`,
    singular: name,
    plural: name,
    fullyQualifiedName: `p${DEFAULT_PORTAL}_${name}`,
    labels,
    custom: true,
    archived: false,
    primaryDisplay: '',
    secondaryDisplay: [],
    searchable: [],
    required: [],
    requiredOneOf: [],
    defaults: [],
    createdProperty: 'hs_createdate',
    modifiedProperty: 'hs_lastmodifieddate',
    properties: new Map(),
    groups: new Map([
      [groupName, { name: groupName, label: labels.singular, displayOrder: 0, archived: false }],
    ]),
    createdAt: hub.ground.clock.iso(),
  };
}

/** Sets display, required and searchable properties, which must exist. */
function describe(type: ObjectType, input: JsonObject): Refusal | undefined {
  const required =
    input['requiredProperties'] === undefined ? type.required : strings(input['requiredProperties']);
  const searchable =
    input['searchableProperties'] === undefined ? type.searchable : strings(input['searchableProperties']);
  const second = input['secondaryDisplayProperties'];
  const secondary = second === undefined ? type.secondaryDisplay : strings(second);
  const primary = textOf(input['primaryDisplayProperty']) ?? type.primaryDisplay;
  const unknown = [...required, ...searchable, ...secondary, primary].filter(
    (name) => name && !type.properties.has(name),
  );
  if (unknown.length > 0) return invalid(`Properties do not exist: [${unknown.join(', ')}]`);
  Object.assign(type, { required, searchable, secondaryDisplay: secondary, primaryDisplay: primary });
  if (primary) type.defaults = [primary];
  return undefined;
}

export function updateSchema(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  if (!type.custom) return invalid('A standard object cannot be changed');
  const refused = describe(type, body);
  if (refused) return refused;
  const labels = isObject(body['labels']) ? body['labels'] : {};
  type.labels = {
    singular: textOf(labels['singular']) ?? type.labels.singular,
    plural: textOf(labels['plural']) ?? type.labels.plural,
  };
  return json(200, renderSchema(hub, type));
}

export function deleteSchema(_hub: Hub, type: ObjectType): Answer {
  if (!type.custom) return invalid('A standard object cannot be deleted');
  type.archived = true;
  return empty(204);
}

export function addSchemaAssociation(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const to = hub.portal.schema.find(textOf(body['toObjectTypeId']) ?? '');
  if (!to) return notFound();
  const link = hub.portal.links.types.unlabelled(type, to);
  return json(201, renderAssociation(hub, type, to, link.typeId));
}

function renderAssociation(hub: Hub, from: ObjectType, to: ObjectType, typeId: number): JsonObject {
  const name = `${from.singular}_to_${to.singular}`;
  const at = hub.ground.clock.iso();
  return {
    id: String(typeId),
    fromObjectTypeId: from.typeId,
    toObjectTypeId: to.typeId,
    name,
    createdAt: at,
    updatedAt: at,
  };
}

function renderSchema(hub: Hub, type: ObjectType): JsonObject {
  const links = hub.portal.schema.types.flatMap((to) => hub.portal.links.types.between(type, to));
  return {
    id: type.typeId.replace('2-', ''),
    objectTypeId: type.typeId,
    name: type.singular,
    fullyQualifiedName: type.fullyQualifiedName ?? type.singular.toUpperCase(),
    labels: type.labels,
    requiredProperties: [...type.required],
    searchableProperties: type.searchable,
    secondaryDisplayProperties: type.secondaryDisplay,
    primaryDisplayProperty: type.primaryDisplay,
    properties: [...type.properties.values()].filter((one) => !one.archived),
    associations: links.map((one) => renderAssociation(hub, type, one.to, one.typeId)),
    archived: type.archived,
    createdAt: type.createdAt,
    updatedAt: type.createdAt,
    allowsSensitiveProperties: false,
  };
}
