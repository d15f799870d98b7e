import { objectsIn, type JsonObject } from './answer.ts';
import type { FieldMetadata } from './schema.ts';

/**
 * The fields of a described object, by their names, from the list that a provider tells them in. Undefined for what is no such list: an
 * object has one field at least, its id, and each field has a name.
 */
export function fieldsIn(
  list: unknown,
  fieldFrom: (field: JsonObject) => FieldMetadata | undefined,
): Record<string, FieldMetadata> | undefined {
  const fields = objectsIn(list)?.map(fieldFrom) ?? [];
  if (fields.length === 0 || !fields.every((field) => field !== undefined)) return undefined;
  return Object.fromEntries(fields.map((field) => [field.fieldName, field]));
}
