import { isObject, objectsOf, textOf, textsOf, type JsonObject } from '../answer.ts';
import type { FieldMetadata } from '../schema.ts';

type ValueType = FieldMetadata['valueType'];

const valueTypes = new Map<string, ValueType>(
  Object.entries({
    string: 'string',
    phone_number: 'string',
    number: 'float',
    date: 'date',
    datetime: 'datetime',
    bool: 'boolean',
  }),
);

/** A property of HubSpot as field metadata. `required`: undefined where it could not be read. */
export function fieldFrom(
  property: JsonObject,
  required: ReadonlySet<string> | undefined,
): FieldMetadata | undefined {
  const fieldName = textOf(property['name']);
  if (fieldName === undefined) return undefined;
  const target = textOf(property['referencedObjectType']);
  const values = optionsOf(property);
  const providerType = textOf(property['type']);
  return {
    fieldName,
    displayName: textOf(property['label']) ?? fieldName,
    valueType: valueTypeOf(property),
    ...(providerType === undefined ? {} : { providerType }),
    readOnly: isReadOnly(property),
    isCustom: property['hubspotDefined'] !== true,
    ...(required ? { isRequired: required.has(fieldName) } : {}),
    ...(target === undefined ? {} : { referenceTo: [target] }),
    ...(values ? { values } : {}),
  };
}

/** The names under `requiredProperties` of an object's schema. */
export function requiredFrom(schema: unknown): Set<string> | undefined {
  return isObject(schema) && Array.isArray(schema['requiredProperties'])
    ? new Set(textsOf(schema['requiredProperties']))
    : undefined;
}

function valueTypeOf(property: JsonObject): ValueType {
  if (property['type'] !== 'enumeration') return valueTypes.get(textOf(property['type']) ?? '') ?? 'other';
  if (property['fieldType'] === 'booleancheckbox') return 'boolean';
  return property['fieldType'] === 'checkbox' ? 'multiSelect' : 'singleSelect';
}

function isReadOnly(property: JsonObject): boolean {
  const modification = isObject(property['modificationMetadata']) ? property['modificationMetadata'] : {};
  return modification['readOnlyValue'] === true || property['calculated'] === true;
}

/** With external options (owners, pipelines) the list is empty. */
function optionsOf(property: JsonObject): FieldMetadata['values'] {
  if (property['type'] !== 'enumeration' || property['externalOptions'] === true) return undefined;
  return objectsOf(property['options'])
    .map((option) => ({ value: textOf(option['value']), label: textOf(option['label']) }))
    .flatMap(({ value, label }) => (value === undefined ? [] : [{ value, displayValue: label ?? value }]));
}
