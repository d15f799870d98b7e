/** Random bytes for many ids at once: a call of the generator costs more than an id. */
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
    // Bytes that the id does not use otherwise. The highest bit stays free for counting up.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence += 1;
    if (sequence > 0xffff_ffff) {
      sequence = 0;
      lastMs += 1;
    }
  }
  return format(lastMs, sequence, random);
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** RFC 9562, 5.7: 48 bits of milliseconds, version and variant, 32 bits of the sequence, and 42 random ones. */
function format(ms: number, seq: number, random: Uint8Array): string {
  const byte = (value: number): string => hex[value & 0xff] ?? '';
  const high = Math.floor(ms / 0x1_0000_0000);
  const tail = random.subarray(11, 16);
  return (
    `${byte(high >>> 8)}${byte(high)}${byte(ms >>> 24)}${byte(ms >>> 16)}-${byte(ms >>> 8)}${byte(ms)}-` +
    `${byte(0x70 | (seq >>> 28))}${byte(seq >>> 20)}-${byte(0x80 | ((seq >>> 14) & 0x3f))}${byte(seq >>> 6)}-` +
    `${byte((seq << 2) | ((random[10] ?? 0) & 0x03))}${byte(tail[0] ?? 0)}${byte(tail[1] ?? 0)}${byte(tail[2] ?? 0)}` +
    `${byte(tail[3] ?? 0)}${byte(tail[4] ?? 0)}`
  );
}

const form =
  /^(?:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/i;

/** Whether the text is a UUID; anything else is a name. */
export function isId(text: string): boolean {
  return form.test(text);
}

/** An id as it is stored; other text as it is. The hexadecimal digits of a UUID may be capitals (RFC 9562, 4). */
export function storedId(text: string): string {
  return isId(text) ? text.toLowerCase() : text;
}

/** When an id of ours was made, in milliseconds since the epoch, by the clock of the node that made it. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The same as RFC 3339, as what a list by times goes by. */
export function momentOf(id: string): string {
  return new Date(timeOf(id)).toISOString();
}

/** The smallest UUIDv7 of a moment: its first 48 bits are the milliseconds of the epoch (RFC 9562, 5.7). */
export function firstIdAt(time: string): string {
  const ms = Math.max(0, Date.parse(time)).toString(16).padStart(12, '0').slice(-12);
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}
