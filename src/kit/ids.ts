import { v7, validate } from 'uuid';

/** A new UUIDv7: sortable by the time it was made, unique without asking the database. */
export function newId(): string {
  return v7();
}

/** Whether the text has the form of one of our ids; anything else is a name. */
export function isId(text: string): boolean {
  return validate(text);
}

/** When one of our ids was made, in milliseconds since the epoch by the clock of its node (RFC 9562, 5.7). */
export function timeOfId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}
