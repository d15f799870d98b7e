import { ByteBlocks } from '../../kit/http/byte-blocks.ts';

/**
 * The driver trusts the server it talks to: a text without its end keeps it in a loop, a count that is wrong makes it throw
 * where nobody listens. Whoever makes a destination names the server, so each message is checked before the driver sees it.
 */
export class Frames {
  /** A message that is not whole yet: joined once, however small the parts are in which it comes. */
  readonly #begun = new ByteBlocks();
  /** So many bytes tell more than what came so far. */
  #wanted = 0;
  #left = mostBytes;

  /** The server may send {@link mostBytes} from now on. */
  renew(): void {
    this.#left = mostBytes;
  }

  /** The messages that are whole with this part, checked. Throws for what is none. */
  take(part: Buffer): Buffer {
    this.#left -= part.length;
    if (this.#left < 0) throw new Error(`the server answered more than ${mostBytes} bytes`);
    this.#begun.add(part);
    if (this.#begun.length < this.#wanted) return nothingYet;
    const bytes = this.#begun.whole();
    this.#begun.clear();
    this.#wanted = headBytes;
    let end = 0;
    while (end + headBytes <= bytes.length) {
      const length = bytes.readUInt32BE(end + 1);
      if (length < 4 || length > mostBytes) throw unexpected();
      this.#wanted = 1 + length;
      if (end + this.#wanted > bytes.length) break;
      checkMessage(bytes[end] ?? 0, bytes.subarray(end + headBytes, end + this.#wanted));
      end += this.#wanted;
      this.#wanted = headBytes;
    }
    if (end < bytes.length) this.#begun.add(bytes.subarray(end));
    return bytes.subarray(0, end);
  }
}

const nothingYet = Buffer.alloc(0);
/** What is asked here is answered in far less. */
const mostBytes = 4_000_000;
/** The kind of a message and its length. */
const headBytes = 5;

type Check = (body: Body) => void;

/** By the letter of the message; what is not here is no answer to anything that is asked (PostgreSQL, message formats). */
const checks: Record<string, Check> = {
  R: authentication,
  S: (body) => body.texts(2),
  K: (body) => body.skip(8),
  Z: (body) => body.skip(1),
  C: (body) => body.texts(1),
  E: fieldsOfError,
  N: fieldsOfError,
  T: (body) =>
    body.each(() => {
      body.texts(1);
      body.skip(18);
    }),
  D: (body) => body.each(() => body.skip(Math.max(body.int32(), 0))),
  t: (body) => body.each(() => body.skip(4)),
  1: nothing,
  2: nothing,
  3: nothing,
  n: nothing,
  I: nothing,
};

function checkMessage(kind: number, payload: Buffer): void {
  const letter = String.fromCharCode(kind);
  const check = Object.hasOwn(checks, letter) ? checks[letter] : undefined;
  if (!check) throw unexpected();
  const body = new Body(payload);
  check(body);
  if (!body.isAtEnd()) throw unexpected();
}

function nothing(): void {
  // It has no body.
}

/** The name of each field is a byte; a zero is the end. */
function fieldsOfError(body: Body): void {
  while (body.byte() !== 0) body.texts(1);
}

function authentication(body: Body): void {
  const sasl = { start: 10, continue: 11, final: 12 };
  const md5 = 5;
  const code = body.int32();
  if (code === sasl.start) {
    while (!body.isAtEnd()) body.texts(1);
    if (!body.endsWith(Buffer.from([0, 0]))) throw unexpected();
  } else if (code === sasl.continue || code === sasl.final) body.skipRest();
  else if (code === md5) body.skip(4);
}

/** Reads forwards, and throws where there is nothing left. */
class Body {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  endsWith(end: Buffer): boolean {
    return this.#bytes.subarray(-end.length).equals(end);
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length) throw unexpected();
    this.#at += count;
  }

  skipRest(): void {
    this.#at = this.#bytes.length;
  }

  byte(): number {
    this.skip(1);
    return this.#bytes[this.#at - 1] ?? 0;
  }

  int32(): number {
    this.skip(4);
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  /** So many texts, each with its zero. */
  texts(count: number): void {
    for (let text = 0; text < count; text += 1) {
      const zero = this.#bytes.indexOf(0, this.#at);
      if (zero < 0) throw unexpected();
      this.#at = zero + 1;
    }
  }

  /** A count, and as often what follows. */
  each(read: () => void): void {
    this.skip(2);
    const count = this.#bytes.readInt16BE(this.#at - 2);
    for (let index = 0; index < count; index += 1) read();
  }
}

function unexpected(): Error {
  return new Error('what answers there does not speak as PostgreSQL does');
}
