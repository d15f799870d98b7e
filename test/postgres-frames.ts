/** What a wire to PostgreSQL carries, as far as a test must tell its messages apart (protocol 3.0). */

/** Splits a stream of bytes into messages. A client's first one has no type byte. */
export function frames(isClient: boolean): (chunk: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole: Buffer[] = [];
    for (;;) {
      const typed = isFirst ? 0 : 1;
      if (rest.length < typed + 4) return whole;
      const length = typed + rest.readUInt32BE(typed);
      if (rest.length < length) return whole;
      whole.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}

/** What a client sends that is answered at once: everything up to a Sync, a simple query, or a message of another kind. */
export interface Sent {
  all: Buffer;
  isStatement: boolean;
}

const [query, sync, flush] = [0x51, 0x53, 0x48];
const extended = new Set<number | undefined>(Buffer.from('PBDEC'));

/** Splits what a client sends into statements. */
export function statements(): (chunk: Buffer) => Sent[] {
  const split = frames(true);
  let isStarted = false;
  let held: Buffer[] = [];
  return (chunk) =>
    split(chunk).flatMap((frame) => {
      const type = isStarted ? frame[0] : undefined;
      isStarted = true;
      if (extended.has(type)) {
        held.push(frame);
        return [];
      }
      const all = Buffer.concat([...held, frame]);
      const isStatement = type === query || (type === sync && held.length > 0);
      if (type === sync || type === flush || held.length > 0) held = [];
      return [{ all, isStatement }];
    });
}

/** A failed statement, and that the next one may come. */
export function refusal(sqlState: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${sqlState}\0Mrefused on the wire\0\0`);
  const error = Buffer.alloc(5 + fields.length);
  error.write('E');
  error.writeUInt32BE(4 + fields.length, 1);
  fields.copy(error, 5);
  return Buffer.concat([error, Buffer.from([0x5a, 0, 0, 0, 5, 0x49])]);
}

/** A statement in place of another one that fails with this SQLSTATE, and its transaction with it. */
export function failing(sqlState: string): Buffer {
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'refused on the wire' USING ERRCODE = '${sqlState}'; END $$`;
  const text = Buffer.from(`${raise}\0`);
  const asked = Buffer.alloc(5);
  asked.writeUInt8(query);
  asked.writeUInt32BE(4 + text.length, 1);
  return Buffer.concat([asked, text]);
}
