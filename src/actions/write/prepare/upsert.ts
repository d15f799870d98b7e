import { isExactNumber } from '../../../kit/json.ts';
import type { Issue } from '../../../kit/problem.ts';
import type { WriteRequest } from '../schema.ts';
import {
  providerName,
  shapeFields,
  type CompiledRules,
  type FieldRules,
  type ShapedFields,
  type Unsent,
} from './fields.ts';
import type { PlannedRecord } from './stored.ts';

/** Of a value that tells records apart. */
const longestKey = 255;

/** What an upsert must say by what its records go, and nothing else may. */
export function upsertByIssues({ type, upsertBy }: WriteRequest): Issue[] {
  const issue = (detail: string): Issue[] => [{ in: 'body', name: 'upsertBy', detail }];
  if (type !== 'upsert') return upsertBy === undefined ? [] : issue('belongs to `type: "upsert"`');
  if (upsertBy === undefined)
    return issue('is required for an upsert: the field that tells the records apart');
  if (upsertBy.toLowerCase() === 'id')
    return issue('is the id of the provider; to change the record that has it send `type: "update"`');
  return [];
}

/** The provider's field that an upsert goes by: it is asked for by the builder's name or by the provider's. */
export function keyField({ upsertBy = '' }: Pick<WriteRequest, 'upsertBy'>, rules: FieldRules): string {
  return providerName(upsertBy, rules);
}

type Shaped = Pick<PlannedRecord, 'key' | 'fields' | 'onUpdate'>;

/**
 * What is sent of a record to be created or updated. The field that it goes by is no value to be written: no default stands in for
 * it, and no policy keeps it back: the rules are those of the other fields. Where the two would differ, the record holds both.
 */
export function shapeUpsert(
  sent: Readonly<Record<string, unknown>>,
  field: string,
  compiled: CompiledRules,
): { shaped: Shaped } & Pick<ShapedFields, 'collisions'> & Unsent {
  const { fields, ...found } = shapeFields('create', sent, compiled);
  const key = keyOf(valueOf(fields, field));
  const shaped: Shaped = { fields, ...(key === undefined ? {} : { key }) };
  if (!hasRules(compiled.rules)) return { shaped, ...found };
  return { shaped: { ...shaped, ...asUpsert(fields, shapeFields('update', sent, compiled)) }, ...found };
}

/** The fields of a record that is created, and those of one that is updated where they are others. */
export function asUpsert(
  fields: PlannedRecord['fields'],
  update: Pick<ShapedFields, 'fields' | 'ifEmpty'>,
): Pick<PlannedRecord, 'fields' | 'onUpdate'> {
  const { ifEmpty } = update;
  if (ifEmpty.length === 0 && JSON.stringify(update.fields) === JSON.stringify(fields)) return { fields };
  return { fields, onUpdate: { fields: update.fields, ...(ifEmpty.length > 0 ? { ifEmpty } : {}) } };
}

export const keyMissing = `is what the record goes by: send a text or a number of at most ${longestKey} characters`;

/** As providers compare it; for what is compared here. */
export function foldedKey(key: string): string {
  return key.toLowerCase();
}

/** The same among the ids of records, of which none begins so. */
export function keyAsId(key: string): string {
  return `=${foldedKey(key)}`;
}

function keyOf(value: unknown): string | undefined {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== 'string' && typeof text !== 'number') return undefined;
  const key = String(text).trim();
  return key === '' || key.length > longestKey ? undefined : key;
}

function valueOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(fields).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}

/** The field that a record goes by has none. */
export function withoutRulesOf(field: string, rules: FieldRules): FieldRules {
  const isOther = ([name]: [string, unknown]): boolean =>
    providerName(name, rules).toLowerCase() !== field.toLowerCase();
  return {
    ...rules,
    goesBy: field,
    settings: Object.fromEntries(Object.entries(rules.settings).filter(isOther)),
    valueDefaults: Object.fromEntries(Object.entries(rules.valueDefaults).filter(isOther)),
  };
}

function hasRules({ settings, valueDefaults }: FieldRules): boolean {
  return Object.keys(settings).length > 0 || Object.keys(valueDefaults).length > 0;
}
