import { isExactNumber } from '../../../kit/json.ts';
import { maxRecordIdLength } from '../../../operations/schema.ts';
import { canonicalIdOf, type WriteKind } from '../../../providers/index.ts';
import type { PlannedRecord } from './stored.ts';

/** Whether a write of the type may make a record. */
export function isMade(type: WriteKind): boolean {
  return type === 'create' || type === 'upsert';
}

const givenByProvider =
  'is given by the provider when a record is created; to change the record that has it send `type: "update"`';

const otherId = 'is another id than the one that the record is updated by; send `id` alone';

/**
 * The names under which a record holds an id among its fields, in whatever case, and what is wrong with it. A connector leaves it away:
 * a create would make a second record where one was to be changed. The record's own id once more is no loss.
 */
export function strayIds(
  kind: WriteKind,
  { id = '', fields, onUpdate }: PlannedRecord,
  provider: string,
): [name: string, detail: string][] {
  const isOwn = (value: unknown): boolean =>
    kind === 'update' &&
    isRecordId(value) &&
    canonicalIdOf(provider, idOf({ id: value })) === canonicalIdOf(provider, id);
  const strays = Object.entries({ ...onUpdate?.fields, ...fields })
    .filter(([name, value]) => name.toLowerCase() === 'id' && !isOwn(value))
    .map(([name]) => name);
  return strays.map((name) => [name, isMade(kind) ? givenByProvider : otherId]);
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
  if (!isRecordId(record['id']))
    return `is required for ${type === 'update' ? 'an update' : 'a delete'}: the provider's record id`;
  const id = idOf(record);
  if (/\s/.test(id)) return "holds a blank; send the provider's record id as it is";
  if (id.length <= maxRecordIdLength) return undefined;
  return `is longer than ${maxRecordIdLength} characters; send the provider's record id`;
}
