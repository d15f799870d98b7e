/**
 * Where a read goes on. A list names the first record that is not read yet; a search goes on behind the last one that was read, and its
 * places begin with a zero, which no id does. A filter that comes or goes turns one way into the other, which goes on where that stood.
 */
const ofSearch = /^0\d*$/;
const ofList = /^[1-9]\d*$/;

export const firstOfSearch = '0';

export function placeBehind(id: string): string {
  return firstOfSearch + id;
}

/** The id that a search goes on behind. Places of a search had no zero before, so one record may be read again by such a place. */
export function idBehind(cursor: string): string {
  if (ofSearch.test(cursor)) return BigInt(cursor).toString();
  return ofList.test(cursor) ? (BigInt(cursor) - 1n).toString() : '0';
}

/** Where a list goes on. The record that a search stood behind is read again. */
export function placeInList(cursor: string): string {
  if (cursor === firstOfSearch) return '';
  return ofSearch.test(cursor) ? BigInt(cursor).toString() : cursor;
}
