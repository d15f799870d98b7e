import type { Field } from './fields.ts';
import { childRelationships, type Schema, type SObject } from './object-types.ts';

/** The path prefix of one API version, such as `/services/data/v60.0`. */
type ApiBase = string;

/** The answer of `/sobjects`. */
export function describeGlobal(schema: Schema, base: ApiBase): Record<string, unknown> {
  return {
    encoding: 'UTF-8',
    maxBatchSize: 200,
    sobjects: [...schema.objects.values()].map((o) => summary(o, base)),
  };
}

/** The answer of `/sobjects/{T}/describe`: every column the store has (jsforce relies on it). */
export function describeObject(
  schema: Schema,
  object: SObject,
  base: ApiBase,
  recordTypes: RecordTypeInfo[],
): Record<string, unknown> {
  return {
    actionOverrides: [],
    childRelationships: childRelationships(schema, object).map((c) => ({
      cascadeDelete: c.field.onDelete === 'cascade',
      childSObject: c.child.name,
      deprecatedAndHidden: false,
      field: c.field.name,
      junctionIdListNames: [],
      junctionReferenceTo: [],
      relationshipName: c.name,
      restrictedDelete: c.field.onDelete === 'restrict',
    })),
    compactLayoutable: true,
    fields: object.fields.map((f) => describeField(f)),
    namedLayoutInfos: [],
    networkScopeFieldName: null,
    recordTypeInfos: [...recordTypes, masterType].map((type) => recordTypeInfo(object, base, type)),
    searchLayoutable: true,
    supportedScopes: [{ label: `All ${object.labelPlural}`, name: 'everything' }],
    ...summary(object, base),
  };
}

/** The short form of one object, in `/sobjects` and at the head of `/sobjects/{T}`. */
export function summary(object: SObject, base: ApiBase): Record<string, unknown> {
  const url = `${base}/sobjects/${object.name}`;
  return {
    activateable: false,
    createable: object.createable,
    custom: object.custom,
    customSetting: false,
    deletable: object.deletable,
    deprecatedAndHidden: false,
    feedEnabled: !object.custom,
    hasSubtypes: false,
    keyPrefix: object.keyPrefix,
    label: object.label,
    labelPlural: object.labelPlural,
    layoutable: true,
    mergeable: ['Account', 'Contact', 'Lead'].includes(object.name),
    mruEnabled: true,
    name: object.name,
    queryable: true,
    replicateable: true,
    retrieveable: true,
    searchable: true,
    triggerable: true,
    undeletable: object.deletable,
    updateable: true,
    urls: {
      sobject: url,
      describe: `${url}/describe`,
      rowTemplate: `${url}/{ID}`,
    },
  };
}

/** A record type as describe lists it. */
export type RecordTypeInfo = { recordTypeId: string; name: string; developerName: string; active: boolean };

const masterType: RecordTypeInfo = {
  recordTypeId: '012000000000000AAA',
  name: 'Master',
  developerName: 'Master',
  active: true,
};

function recordTypeInfo(object: SObject, base: ApiBase, type: RecordTypeInfo): Record<string, unknown> {
  const master = type === masterType;
  return {
    ...type,
    available: true,
    defaultRecordTypeMapping: master,
    master,
    urls: { layout: `${base}/sobjects/${object.name}/describe/layouts/${type.recordTypeId}` },
  };
}

const soapTypes: Partial<Record<Field['type'], string>> = {
  id: 'tns:ID',
  reference: 'tns:ID',
  boolean: 'xsd:boolean',
  int: 'xsd:int',
  double: 'xsd:double',
  currency: 'xsd:double',
  percent: 'xsd:double',
  date: 'xsd:date',
  datetime: 'xsd:dateTime',
  time: 'xsd:time',
  address: 'urn:address',
};

function describeField(f: Field): Record<string, unknown> {
  const long = f.type === 'textarea' && f.length > 255;
  const compound = f.type === 'address';
  return {
    aggregatable: !long && !compound && f.type !== 'boolean',
    autoNumber: f.autoNumber,
    byteLength: f.length * 3,
    calculated: f.calculated,
    caseSensitive: f.caseSensitive,
    compoundFieldName: f.compoundFieldName,
    controllerName: null,
    createable: f.createable,
    custom: f.custom,
    defaultValue: f.preset,
    defaultedOnCreate: f.defaultedOnCreate,
    dependentPicklist: false,
    deprecatedAndHidden: false,
    digits: f.type === 'int' ? 8 : 0,
    encrypted: false,
    externalId: f.externalId,
    filterable: !long,
    groupable: !long && !compound && f.precision === 0 && !['datetime', 'multipicklist'].includes(f.type),
    highScaleNumber: false,
    htmlFormatted: false,
    idLookup: f.idLookup,
    inlineHelpText: null,
    label: f.label,
    length: f.length,
    name: f.name,
    nameField: f.nameField,
    namePointing: f.referenceTo.length > 1,
    nillable: f.nillable,
    permissionable: f.nillable && f.createable,
    picklistValues: f.picklist.map((value) => ({
      active: true,
      defaultValue: value === f.preset,
      label: f.labels[value] ?? value,
      validFor: null,
      value,
    })),
    polymorphicForeignKey: f.referenceTo.length > 1,
    precision: f.precision,
    referenceTo: f.referenceTo,
    relationshipName: f.relationshipName,
    relationshipOrder: null,
    restrictedPicklist: f.restricted,
    scale: f.scale,
    soapType: soapTypes[f.type] ?? 'xsd:string',
    sortable: !long && !compound && f.type !== 'multipicklist',
    type: f.type,
    unique: f.unique,
    updateable: f.updateable,
  };
}
