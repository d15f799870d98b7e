import type { HttpAnswer } from '../../kit/http/client.ts';
import { bodyOf, isObject, isSuccess, objectsOf, textOf, textsOf, type JsonObject } from '../answer.ts';
import type { DescribeAbility, ProviderClient, UniqueField } from '../connector.ts';
import { failureOfRead, type Failure } from '../failure.ts';
import { fieldsIn } from '../fields.ts';
import type { FieldMetadata } from '../schema.ts';
import { failureOf } from './failure.ts';
import { faultOfObjectName, objectPath, objectsPath } from './paths.ts';

type ValueType = FieldMetadata['valueType'];

export const describe: DescribeAbility = {
  standard: ['Account', 'Contact', 'Lead', 'Opportunity', 'Task', 'Event', 'User'],
  async names(client) {
    const objects = await get(client, objectsPath);
    const listed = 'body' in objects ? objectsOf(objects.body['sobjects']) : [];
    return listed.map((one) => textOf(one['name'])).filter((name) => name !== undefined);
  },
  async describe(client, objectName) {
    const fault = faultOfObjectName(objectName);
    if (fault) return { failure: fault };
    const described = await get(client, objectPath(objectName, '/describe'));
    if ('failure' in described) return described;
    const { answer, body } = described;
    const fields = fieldsIn(body['fields'], fieldFrom);
    if (!fields) return { failure: failureOf(answer) };
    const name = textOf(body['name']) ?? objectName;
    return {
      object: {
        name,
        displayName: textOf(body['label']) ?? name,
        fields,
        uniqueFields: uniqueFrom(objectsOf(body['fields'])),
        upsertFields: upsertableFrom(objectsOf(body['fields'])),
      },
    };
  },
};

/**
 * External ids and unique fields, the kept ones first. An external id may hold a value twice unless it is unique, too; a
 * mere `idLookup` (a contact's email) identifies nobody.
 */
function uniqueFrom(fields: readonly JsonObject[]): UniqueField[] {
  const found = fields
    .filter((field) => is(field, 'unique') || is(field, 'externalId'))
    .flatMap((field) => {
      const name = textOf(field['name']);
      return name === undefined ? [] : [uniqueFieldOf(name, field)];
    });
  return [...found.filter(({ enforced }) => enforced), ...found.filter(({ enforced }) => !enforced)];
}

/** What Salesforce takes an upsert by; only what is unique, too, holds a value once whoever writes at the same time. */
function upsertableFrom(fields: readonly JsonObject[]): UniqueField[] {
  return fields.flatMap((field) => {
    const name = textOf(field['name']);
    const isTaken = is(field, 'externalId') || is(field, 'idLookup');
    return name === undefined || name === 'Id' || !isTaken ? [] : [uniqueFieldOf(name, field)];
  });
}

function uniqueFieldOf(name: string, field: JsonObject): UniqueField {
  return {
    name,
    enforced: is(field, 'unique'),
    ...(is(field, 'caseSensitive') ? { caseSensitive: true } : {}),
  };
}

/** One GET; a readable success, or why not. */
async function get(
  client: ProviderClient,
  path: string,
): Promise<{ answer: HttpAnswer; body: JsonObject } | { failure: Failure }> {
  const result = await client.send({ method: 'GET', path });
  if ('fault' in result) return { failure: failureOfRead(result.fault) };
  const { answer } = result;
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  return isObject(body) ? { answer, body } : { failure: failureOf(answer) };
}

const valueTypes = new Map<string, ValueType>(
  Object.entries({
    boolean: 'boolean',
    int: 'int',
    long: 'int',
    double: 'float',
    currency: 'float',
    percent: 'float',
    date: 'date',
    datetime: 'datetime',
    picklist: 'singleSelect',
    multipicklist: 'multiSelect',
    reference: 'reference',
    id: 'string',
    string: 'string',
    textarea: 'string',
    url: 'string',
    email: 'string',
    phone: 'string',
    combobox: 'string',
    encryptedstring: 'string',
  }),
);

/** A field of a describe as field metadata. */
export function fieldFrom(field: JsonObject): FieldMetadata | undefined {
  const fieldName = textOf(field['name']);
  if (fieldName === undefined) return undefined;
  const providerType = textOf(field['type']);
  const referenceTo = textsOf(field['referenceTo']);
  const values = valuesOf(field);
  return {
    fieldName,
    displayName: textOf(field['label']) ?? fieldName,
    valueType: valueTypes.get(providerType ?? '') ?? 'other',
    ...(providerType === undefined ? {} : { providerType }),
    readOnly:
      field['calculated'] === true ||
      field['autoNumber'] === true ||
      !(is(field, 'createable') || is(field, 'updateable')),
    isCustom: is(field, 'custom'),
    isRequired: is(field, 'createable') && !is(field, 'nillable') && !is(field, 'defaultedOnCreate'),
    ...(referenceTo.length > 0 ? { referenceTo } : {}),
    ...(values ? { values } : {}),
  };
}

function is(field: JsonObject, name: string): boolean {
  return field[name] === true;
}

function valuesOf(field: JsonObject): FieldMetadata['values'] {
  if (field['type'] !== 'picklist' && field['type'] !== 'multipicklist') return undefined;
  return objectsOf(field['picklistValues'])
    .filter((one) => one['active'] !== false)
    .map((one) => ({ value: textOf(one['value']), label: textOf(one['label']) }))
    .flatMap(({ value, label }) => (value === undefined ? [] : [{ value, displayValue: label ?? value }]));
}
