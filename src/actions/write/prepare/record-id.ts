import { isExactNumber } from '../../../kit/json.ts';
import { maxRecordIdLength } from '../../../operations/schema.ts';
import { canonicalIdOf, isFieldAt, type WriteKind } from '../../../providers/index.ts';
import type { PlannedRecord } from './stored.ts';

/** Whether a write of the type may make a record. */
export function isMade(type: WriteKind): boolean {
  return type === 'create' || type === 'upsert';
}

const givenByProvider =
  'is given by the provider when a record is created; to change the record that has it send `type: "update"`';

const otherId = 'is another id than the one that the record is updated by; send `id` alone';

const noField = 'is no field: the provider takes it for something else; leave it away';

/**
 * The names under which a record holds something else than a field among its fields, in whatever case, and what is wrong with it: a connector
 * leaves it away. Without its id a create would make a second record where one was to be changed; its own id once more is no loss.
 */
export function strayFields(
  kind: WriteKind,
  { id = '', fields, onUpdate }: PlannedRecord,
  provider: string,
): [name: string, detail: string][] {
  const isOwn = (value: unknown): boolean =>
    kind === 'update' &&
    isRecordId(value) &&
    canonicalIdOf(provider, idOf({ id: value })) === canonicalIdOf(provider, id);
  return Object.entries({ ...onUpdate?.fields, ...fields }).flatMap(([name, value]): [string, string][] => {
    if (!isFieldAt(provider, name)) return [[name, noField]];
    if (name.toLowerCase() !== 'id' || isOwn(value)) return [];
    return [[name, isMade(kind) ? givenByProvider : otherId]];
  });
}

export function withoutId({ id: _id, ...others }: Record<string, unknown>): Record<string, unknown> {
  return others;
}

export function idOf({ id }: Record<string, unknown>): string {
  return isExactNumber(id) ? id.rawJSON : String(id);
}

function isRecordId(id: unknown): boolean {
  return (
    (typeof id === 'string' && id.trim() !== '') ||
    Number.isInteger(id) ||
    (isExactNumber(id) && /^\d+$/.test(id.rawJSON))
  );
}

/** What is wrong with the id of a record that is changed or deleted. */
export function faultOfId(type: WriteKind, record: Record<string, unknown>): string | undefined {
  if (!isRecordId(record['id'])) {
    const other = Object.keys(record).find((name) => name !== 'id' && name.toLowerCase() === 'id');
    const told = other === undefined ? '' : `; it is called \`id\`, not \`${other}\``;
    return `is required for ${type === 'update' ? 'an update' : 'a delete'}: the provider's record id${told}`;
  }
  const id = idOf(record);
  if (/\s/.test(id)) return "holds a blank; send the provider's record id as it is";
  if (id.length <= maxRecordIdLength) return undefined;
  return `is longer than ${maxRecordIdLength} characters; send the provider's record id`;
}
