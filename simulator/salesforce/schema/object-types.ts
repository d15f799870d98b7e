import { field, readOnlyField, systemFields, type Field } from './fields.ts';

/** One object type: its names, key prefix and columns in describe order. */
export type SObject = {
  name: string;
  label: string;
  labelPlural: string;
  keyPrefix: string;
  custom: boolean;
  createable: boolean;
  deletable: boolean;
  fields: Field[];
  /** By lower-case name: input names are case-insensitive. */
  byName: Map<string, Field>;
  /** Parent path names, lower case, to the lookup field. */
  byRelationship: Map<string, Field>;
};

/** What an object is made of, before the columns that all objects share. */
export type SObjectSpec = {
  name: string;
  label?: string;
  labelPlural?: string;
  keyPrefix: string;
  createable?: boolean;
  deletable?: boolean;
  fields: Field[];
};

type ChildRelationship = { child: SObject; field: Field; name: string | null };

/** All objects of the org; `changedAt` drives `If-Modified-Since` on describe. */
export type Schema = {
  objects: Map<string, SObject>;
  byPrefix: Map<string, SObject>;
  changedAt: number;
};

function buildObject(spec: SObjectSpec): SObject {
  const label = spec.label ?? spec.name.replace(/__c$/, '');
  const object: SObject = {
    name: spec.name,
    label,
    labelPlural: spec.labelPlural ?? `${label}s`,
    keyPrefix: spec.keyPrefix,
    custom: spec.name.endsWith('__c'),
    createable: spec.createable ?? true,
    deletable: spec.deletable ?? true,
    fields: [],
    byName: new Map(),
    byRelationship: new Map(),
  };
  const id = readOnlyField('Id', 'id', { nillable: false, defaultedOnCreate: true, idLookup: true });
  // What can never be deleted has no column that says whether it is.
  const system = systemFields().filter((f) => object.deletable || f.name !== 'IsDeleted');
  for (const f of [id, ...spec.fields, ...system]) addField(object, f);
  return object;
}

/** Adds a field, or replaces the one of the same name. */
export function addField(object: SObject, f: Field): void {
  const known = object.fields.findIndex((x) => x.name.toLowerCase() === f.name.toLowerCase());
  if (known >= 0) object.fields[known] = f;
  else object.fields.push(f);
  object.byName.set(f.name.toLowerCase(), f);
  if (f.relationshipName) object.byRelationship.set(f.relationshipName.toLowerCase(), f);
}

/** Takes a field away, as field-level security does: describe and queries no longer know it. */
export function removeField(object: SObject, name: string): void {
  const known = object.byName.get(name.toLowerCase());
  if (!known) return;
  object.fields = object.fields.filter((f) => f !== known);
  object.byName.delete(name.toLowerCase());
  if (known.relationshipName) object.byRelationship.delete(known.relationshipName.toLowerCase());
}

export function buildSchema(specs: SObjectSpec[], changedAt: number): Schema {
  const schema: Schema = { objects: new Map(), byPrefix: new Map(), changedAt };
  for (const spec of specs) addObject(schema, spec);
  return schema;
}

export function addObject(schema: Schema, spec: SObjectSpec): SObject {
  const object = buildObject(spec);
  schema.objects.set(spec.name.toLowerCase(), object);
  schema.byPrefix.set(spec.keyPrefix, object);
  return object;
}

export function findObject(schema: Schema, name: string): SObject | undefined {
  return schema.objects.get(name.toLowerCase());
}

export function findField(object: SObject, name: string): Field | undefined {
  return object.byName.get(name.toLowerCase());
}

/** Lists of children an object has: each lookup anywhere that points to it. */
export function childRelationships(schema: Schema, parent: SObject): ChildRelationship[] {
  const found: ChildRelationship[] = [];
  for (const child of schema.objects.values()) {
    for (const f of child.fields) {
      if (f.referenceTo.includes(parent.name)) found.push({ child, field: f, name: f.childRelationship });
    }
  }
  return found;
}

/** A custom field from control input; anything left out gets the usual value of the type. */
export function customField(input: Partial<Field> & { name: string }): Field {
  return field(input.name, input.type ?? 'string', input);
}
