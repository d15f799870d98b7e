import { empty, isObject, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { complete, inputsOf } from './batch.ts';
import { invalid, isRefusal, missingFields, notFound, refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { addProperty, fieldTypeOf, title, uniqueProperties } from './object-types.ts';
import type { Group, ObjectType, Option, Property } from './types.ts';
import { textOf } from './write.ts';

type Answer = Reply | Refusal;

const TYPES = new Set([
  'string',
  'number',
  'date',
  'datetime',
  'enumeration',
  'bool',
  'phone_number',
  'object_coordinates',
  'json',
]);
const MAX_UNIQUE = 10;

export function listProperties(_hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const archived = call.query.get('archived') === 'true';
  return json(200, { results: [...type.properties.values()].filter((one) => one.archived === archived) });
}

export function getProperty(_hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const property = type.properties.get(call.params['name'] ?? '');
  const archived = call.query.get('archived') === 'true';
  return property?.archived === archived ? json(200, property) : notFound();
}

export function createProperty(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const property = planProperty(hub, type, body);
  if (isRefusal(property)) return property;
  installProperty(hub, type, property);
  return json(201, property);
}

/** A property from its definition; group and field type may be left out. */
export function planProperty(hub: Hub, type: ObjectType, input: JsonObject): Property | Refusal {
  const name = textOf(input['name'])?.toLowerCase();
  const kind = textOf(input['type']) ?? 'string';
  const [firstGroup] = type.groups.keys();
  const groupName = textOf(input['groupName']) ?? firstGroup ?? '';
  if (!name) return missingFields(['name']);
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return invalid(`"${name}" is not a valid property name`);
  if (!TYPES.has(kind)) return invalid(`"${kind}" is not a property type`);
  if (!type.groups.has(groupName)) return invalid(`Property group "${groupName}" does not exist`);
  const known = type.properties.get(name);
  if (known && !known.archived) return exists(name);
  const unique = input['hasUniqueValue'] === true;
  if (unique && uniqueProperties(type).filter((one) => !one.hubspotDefined).length >= MAX_UNIQUE) {
    return invalid(`An object can have at most ${MAX_UNIQUE} unique properties`);
  }
  return build(hub, input, { name, type: kind, groupName, hasUniqueValue: unique });
}

function exists(name: string): Refusal {
  const message = `A property named '${name}' already exists.`;
  return refuse(409, message, 'OBJECT_ALREADY_EXISTS', {
    subCategory: 'Properties.PROPERTY_WITH_NAME_EXISTS',
  });
}

function build(
  hub: Hub,
  input: JsonObject,
  fixed: Pick<Property, 'name' | 'type' | 'groupName' | 'hasUniqueValue'>,
): Property {
  const now = hub.ground.clock.iso();
  return {
    ...fixed,
    label: textOf(input['label']) ?? title(fixed.name),
    fieldType: textOf(input['fieldType']) ?? fieldTypeOf(fixed.type),
    description: textOf(input['description']) ?? '',
    hubspotDefined: false,
    hidden: input['hidden'] === true,
    calculated: input['calculated'] === true,
    externalOptions: input['externalOptions'] === true,
    referencedObjectType: textOf(input['referencedObjectType']) ?? null,
    formField: input['formField'] === true,
    displayOrder: typeof input['displayOrder'] === 'number' ? input['displayOrder'] : -1,
    options: optionsOf(input['options'], fixed.type),
    modificationMetadata: {
      archivable: true,
      readOnlyDefinition: false,
      readOnlyValue: input['readOnly'] === true,
    },
    archived: false,
    createdAt: now,
    updatedAt: now,
  };
}

/** Options as objects, or as bare values (the control API's short form). */
function optionsOf(given: unknown, type: string): Option[] {
  const list: unknown[] = Array.isArray(given) ? given : type === 'bool' ? ['true', 'false'] : [];
  return list.map((one, i) => {
    const object = isObject(one) ? one : { value: one };
    const value = textOf(object['value']) ?? '';
    return {
      label: textOf(object['label']) ?? value,
      value,
      displayOrder: i,
      hidden: object['hidden'] === true,
    };
  });
}

export function installProperty(hub: Hub, type: ObjectType, property: Property): void {
  addProperty(type, property);
  if (property.hasUniqueValue) tableOf(hub, type).addUnique(property.name);
}

export function updateProperty(hub: Hub, type: ObjectType, { call, body }: HubCall): Answer {
  const property = type.properties.get(call.params['name'] ?? '');
  if (!property || property.archived) return notFound();
  if (property.modificationMetadata.readOnlyDefinition && body['options'] === undefined) {
    return invalid(`The definition of "${property.name}" cannot be changed`);
  }
  for (const name of ['label', 'fieldType', 'groupName', 'description'] as const) {
    const value = textOf(body[name]);
    if (value !== undefined) property[name] = value;
  }
  if (typeof body['hidden'] === 'boolean') property.hidden = body['hidden'];
  if (body['options'] !== undefined) property.options = optionsOf(body['options'], property.type);
  property.updatedAt = hub.ground.clock.iso();
  return json(200, property);
}

export function deleteProperty(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  return archiveProperty(hub, type, call.params['name'] ?? '') ?? empty(204);
}

function archiveProperty(hub: Hub, type: ObjectType, name: string): Refusal | undefined {
  const property = type.properties.get(name);
  if (!property) return notFound();
  if (!property.modificationMetadata.archivable)
    return invalid(`"${name}" is defined by HubSpot and cannot be archived`);
  property.archived = true;
  property.archivedAt = hub.ground.clock.iso();
  return undefined;
}

export function readProperties(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  const names = inputs.map((one) => textOf(one['name']) ?? '');
  const found = names
    .map((name) => type.properties.get(name))
    .filter((one) => one?.archived === false) as Property[];
  const missing = names.filter((name) => !found.some((one) => one.name === name));
  const error = refuse(207, 'Some properties do not exist', 'OBJECT_NOT_FOUND', {
    context: { name: missing },
  }).body;
  return complete(hub, 200, found, missing.length > 0 ? [error] : []);
}

export function createProperties(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  const made: Property[] = [];
  const errors: JsonObject[] = [];
  for (const one of inputs) {
    const property = planProperty(hub, type, one);
    if (isRefusal(property))
      errors.push({ ...property.body, context: { name: [textOf(one['name']) ?? ''] } });
    else {
      installProperty(hub, type, property);
      made.push(property);
    }
  }
  return complete(hub, 201, made, errors);
}

export function archiveProperties(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  for (const one of inputs) archiveProperty(hub, type, textOf(one['name']) ?? '');
  return empty(204);
}

export function listGroups(_hub: Hub, type: ObjectType): Answer {
  return json(200, { results: [...type.groups.values()].filter((one) => !one.archived) });
}

export function getGroup(_hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const group = liveGroup(type, call.params['name'] ?? '');
  return group ? json(200, group) : notFound();
}

export function createGroup(_hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const name = textOf(body['name']);
  if (!name) return missingFields(['name']);
  if (liveGroup(type, name))
    return refuse(409, `A property group named '${name}' already exists.`, 'OBJECT_ALREADY_EXISTS');
  const group = { name, label: textOf(body['label']) ?? name, displayOrder: -1, archived: false };
  type.groups.set(name, group);
  return json(201, group);
}

export function updateGroup(_hub: Hub, type: ObjectType, { call, body }: HubCall): Answer {
  const group = liveGroup(type, call.params['name'] ?? '');
  if (!group) return notFound();
  group.label = textOf(body['label']) ?? group.label;
  return json(200, group);
}

export function deleteGroup(_hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const group = liveGroup(type, call.params['name'] ?? '');
  if (!group) return notFound();
  group.archived = true;
  return empty(204);
}

function liveGroup(type: ObjectType, name: string): Group | undefined {
  const group = type.groups.get(name);
  return group?.archived ? undefined : group;
}
