/**
 * Records that were merged into others. A merge makes a new record, and those that it is made of are gone: they stand in no list,
 * no search and no archive. The new one names them, with those of the merges before.
 */
import { textOf, type JsonObject } from '../answer.ts';
import type { ReadQuery, ReadRecord } from '../connector.ts';
import { recordId } from './paths.ts';
import { mergedField, modifiedField } from './read-request.ts';

// No cursor of a list has a space.
const mark = 'merges ';

/** The place behind an id in the search for what others were merged into. It comes after the archived ones. */
export function mergesBehind(id: string): string {
  return mark + id;
}

/** The id that such a place is behind; undefined for another cursor. */
export function idOfMerges(cursor: string): string | undefined {
  return cursor.startsWith(mark) ? cursor.slice(mark.length) : undefined;
}

/** Whether the object tells of merges, and of when a record changed. */
export function tellsOfMerges({ object }: ReadQuery): boolean {
  return Object.hasOwn(object.fields, mergedField) && modifiedField(object) !== undefined;
}

/** The ids of the records that were merged into one, by its values; undefined where they are in an unknown form. */
export function mergedIds(values: JsonObject): string[] | undefined {
  const ids = (textOf(values[mergedField]) ?? '').split(';').filter((id) => id !== '');
  return ids.every((id) => recordId.test(id)) ? ids : undefined;
}

/**
 * The records that were merged into one; undefined where it names them in an unknown form. HubSpot answers a read of any of them
 * with that one, so they are told as it, without its values. Their version is its own: nothing tells when the merge was, but it was
 * no later, and a record that was merged never changes again.
 */
export function mergedInto({ version, fields, raw }: ReadRecord): ReadRecord[] | undefined {
  const { properties: _values, ...rest } = raw;
  return mergedIds(fields)?.map((id) => ({ id, version, fields: {}, raw: rest }));
}
