import { v7, validate } from 'uuid';

/** Random bytes are drawn for many ids at once: a call of the generator costs more than the id itself. */
const pool = new Uint8Array(16 * 256);
let drawn = pool.length;
let lastMs = -Infinity;
let sequence = 0;

/** A new UUIDv7: sortable by the time it was made, unique without asking the database; later ones of this process are greater. */
export function newId(): string {
  if (drawn === pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  const random = pool.subarray(drawn, (drawn += 16));
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // The bytes that the id itself does not take. The highest bit is free, so that counting does not run over.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence += 1;
    if (sequence > 0xffff_ffff) {
      sequence = 0;
      lastMs += 1;
    }
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Whether the text has the form of one of our ids; anything else is a name. */
export function isId(text: string): boolean {
  return validate(text);
}

/** When an id of ours was made, in milliseconds since the epoch, by the clock of the node that made it. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
