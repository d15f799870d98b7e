import { writeError, type WriteError } from '../errors.ts';
import type { Field } from '../schema/fields.ts';
import { findField, findObject, type SObject } from '../schema/object-types.ts';
import { asText } from '../text.ts';
import { findLive, lookup, type Store, type Value } from './store.ts';
import { coerce } from './values.ts';

/** The columns a caller set, by canonical name, or the first reason to refuse them. */
export type Input = { ok: true; fields: Record<string, Value> } | { ok: false; error: WriteError };

/** `system` may write what is read-only to all others. */
export type InputMode = 'create' | 'update' | 'system';

/** Checks and converts what a caller wrote; `attributes` and keys named in `skip` are left out. */
export function readInput(
  store: Store,
  object: SObject,
  raw: Record<string, unknown>,
  mode: InputMode,
  skip: string[] = [],
): Input {
  const fields: Record<string, Value> = {};
  const skipped = new Set(['attributes', ...skip.map((name) => name.toLowerCase())]);
  for (const [name, value] of Object.entries(raw)) {
    if (skipped.has(name.toLowerCase())) continue;
    const one = readOne(store, object, name, value, mode);
    if ('error' in one) return { ok: false, error: one.error };
    fields[one.name] = one.value;
  }
  return { ok: true, fields };
}

type One = { name: string; value: Value } | { error: WriteError };

function readOne(store: Store, object: SObject, name: string, value: unknown, mode: InputMode): One {
  const f = findField(object, name);
  if (!f) return readRelationship(store, object, name, value, mode);
  if (f.type === 'id') return { error: idRefusal(mode) };
  if (!writable(f, mode)) return { error: notWritable(f) };
  const coerced = coerce(f, value);
  if (!coerced.ok) return { error: coerced.error };
  const missing = f.type === 'reference' ? checkReference(store, f, coerced.value) : undefined;
  return missing ? { error: missing } : { name: f.name, value: coerced.value };
}

function writable(f: Field, mode: InputMode): boolean {
  if (mode === 'system') return true;
  return mode === 'create' ? f.createable : f.updateable;
}

function idRefusal(mode: InputMode): WriteError {
  return mode === 'create'
    ? writeError('INVALID_FIELD_FOR_INSERT_UPDATE', 'cannot specify Id in an insert call', ['Id'])
    : writeError('INVALID_FIELD', 'The Id field should not be specified in the sobject data.', ['Id']);
}

function notWritable(f: Field): WriteError {
  return writeError(
    'INVALID_FIELD_FOR_INSERT_UPDATE',
    `Unable to create/update fields: ${f.name}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`,
    [f.name],
  );
}

function checkReference(store: Store, f: Field, value: Value): WriteError | undefined {
  if (value === null) return undefined;
  const target = store.schema.byPrefix.get(String(value).slice(0, 3));
  if (!target || !f.referenceTo.includes(target.name)) {
    return writeError('MALFORMED_ID', `${f.label}: id value of incorrect type: ${value}`, [f.name]);
  }
  if (findLive(store, String(value))) return undefined;
  return writeError('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', []);
}

/** `{"Account": {"External_Id__c": "x"}}` sets the lookup through the parent's external id. */
function readRelationship(store: Store, object: SObject, name: string, value: unknown, mode: InputMode): One {
  const f = object.byRelationship.get(name.toLowerCase());
  const unknown = writeError(
    'INVALID_FIELD',
    `No such column '${name}' on sobject of type ${object.name}`,
    [],
  );
  if (!f || !writable(f, mode)) return { error: unknown };
  if (value === null) return { name: f.name, value: null };
  if (typeof value !== 'object') return { error: unknown };
  const key = Object.entries(value).find(([k]) => k !== 'attributes');
  const parent = findObject(store.schema, f.referenceTo[0] ?? '');
  const keyField = key && parent ? findField(parent, key[0]) : undefined;
  if (!key || !parent || !keyField || !(keyField.externalId || keyField.idLookup)) return { error: unknown };
  const found = lookup(store, parent, keyField, asText(key[1]));
  if (found.length === 1) return { name: f.name, value: found[0] ?? null };
  const message = `Foreign key external ID: ${asText(key[1])} not found for field ${keyField.name} in entity ${parent.name}`;
  return { error: writeError('INVALID_FIELD', message, []) };
}
