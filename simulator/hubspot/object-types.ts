import { STANDARD_OBJECTS } from './standard-objects.ts';
import type { StandardObject } from './standard-objects.ts';
import {
  CREATEDATE_OBJECTS,
  OTHER_PROPERTIES,
  STANDARD_PROPERTIES,
  SYSTEM_PROPERTIES,
} from './standard-properties.ts';
import type { ShortProperty } from './standard-properties.ts';
import type { ObjectType, Option, Property } from './types.ts';

/** All object types of the account. */
export type Schema = {
  types: ObjectType[];
  /** By plural, singular (any case), type id or fully qualified name. */
  find: (name: string) => ObjectType | undefined;
  add: (type: ObjectType) => void;
};

const BORN = '2020-01-01T00:00:00.000Z';

/** A schema with the standard objects only. */
export function createSchema(): Schema {
  const types: ObjectType[] = [];
  const byName = new Map<string, ObjectType>();
  function add(type: ObjectType): void {
    types.push(type);
    for (const name of [type.typeId, type.singular, type.plural, type.fullyQualifiedName ?? '']) {
      if (name) byName.set(name.toLowerCase(), type);
    }
  }
  for (const standard of STANDARD_OBJECTS) add(standardType(standard));
  function find(name: string): ObjectType | undefined {
    const type = byName.get(name.toLowerCase());
    return type?.archived ? undefined : type;
  }
  return { types, find, add };
}

function standardType(standard: StandardObject): ObjectType {
  const { typeId, singular, plural } = standard;
  const createdProperty = CREATEDATE_OBJECTS.includes(plural) ? 'createdate' : 'hs_createdate';
  const modifiedProperty = plural === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate';
  const groupName = `${singular}information`;
  const own = STANDARD_PROPERTIES[plural] ?? OTHER_PROPERTIES;
  const type: ObjectType = {
    typeId,
    singular,
    plural,
    labels: { singular: title(singular), plural: title(plural) },
    custom: false,
    archived: false,
    primaryDisplay: standard.primary ?? 'name',
    secondaryDisplay: [],
    searchable: standard.searchable ?? [standard.primary ?? 'name'],
    required: standard.required ?? [],
    requiredOneOf: standard.requiredOneOf ?? [],
    defaults: standard.defaults ?? [],
    createdProperty,
    modifiedProperty,
    properties: new Map(),
    groups: new Map([
      [
        groupName,
        { name: groupName, label: `${title(singular)} information`, displayOrder: 0, archived: false },
      ],
    ]),
    createdAt: BORN,
  };
  addSystemProperties(type, groupName);
  for (const short of own) addProperty(type, fromShort(short, groupName));
  return type;
}

/** Adds what every object has: its id and its two dates. */
export function addSystemProperties(type: ObjectType, groupName: string): void {
  const dates = [type.createdProperty, type.modifiedProperty].map((name) => ({
    name,
    type: 'datetime',
    readOnly: true,
  }));
  for (const short of [...SYSTEM_PROPERTIES, ...dates]) addProperty(type, fromShort(short, groupName));
}

export function addProperty(type: ObjectType, property: Property): void {
  type.properties.set(property.name, property);
}

function fromShort(short: ShortProperty, groupName: string): Property {
  const readOnly = short.readOnly ?? false;
  return {
    name: short.name,
    label: short.label ?? title(short.name.replace(/^hs_/, '')),
    type: short.type,
    fieldType: short.fieldType ?? fieldTypeOf(short.type),
    groupName,
    description: '',
    hubspotDefined: true,
    hasUniqueValue: short.unique ?? false,
    hidden: false,
    calculated: short.calculated ?? false,
    externalOptions: short.external ?? false,
    referencedObjectType: short.references ?? null,
    formField: !readOnly,
    displayOrder: -1,
    options: (short.options ?? []).map((value, i) => option(value, i)),
    modificationMetadata: { archivable: false, readOnlyDefinition: true, readOnlyValue: readOnly },
    archived: false,
    createdAt: BORN,
    updatedAt: BORN,
  };
}

function option(value: string, displayOrder: number): Option {
  return { label: title(value.toLowerCase()), value, displayOrder, hidden: false };
}

const FIELD_TYPES: Record<string, string> = {
  string: 'text',
  number: 'number',
  date: 'date',
  datetime: 'date',
  bool: 'booleancheckbox',
  enumeration: 'select',
  phone_number: 'phonenumber',
};

/** The field type a property gets when none is named. */
export function fieldTypeOf(type: string): string {
  return FIELD_TYPES[type] ?? 'text';
}

export function title(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Live properties of a type whose values no two records may share. */
export function uniqueProperties(type: ObjectType): Property[] {
  return [...type.properties.values()].filter((one) => one.hasUniqueValue && !one.archived);
}

export function isReadOnly(property: Property): boolean {
  return property.modificationMetadata.readOnlyValue || property.calculated;
}
