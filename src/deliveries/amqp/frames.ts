/** What a broker must not answer. */
export class NoAmqp extends Error {
  override readonly name = 'NoAmqp';
}

const headBytes = 7;
const endBytes = 1;
const contentHeader = 2;
/** Of a frame and of what comes before anything was published. */
const mostFrameBytes = 131_072;
const greeting = 65;

/**
 * Cuts what a broker sends into frames before the driver reads them: it trusts each size that it is told. No more is taken than
 * what was allowed for.
 */
export class Frames {
  readonly #parts: Buffer[] = [];
  #size = 0;
  #wanted = headBytes;
  #allowance = mostFrameBytes;

  /** So many bytes more may come. */
  allow(bytes: number): void {
    this.#allowance += bytes;
  }

  /** The whole frames that end in this part. */
  *take(part: Buffer): Generator<Buffer> {
    this.#allowance -= part.length;
    if (this.#allowance < 0) throw new NoAmqp('it sent more than it was asked for');
    this.#parts.push(part);
    this.#size += part.length;
    while (this.#size >= this.#wanted) {
      const [first, ...others] = this.#parts;
      const bytes = first && others.length === 0 ? first : Buffer.concat(this.#parts);
      const size = sizeOf(bytes);
      if (bytes.length >= size) {
        this.#checkContent(bytes);
        yield bytes.subarray(0, size);
      }
      const rest = bytes.length >= size ? bytes.subarray(size) : bytes;
      this.#parts.splice(0, this.#parts.length, rest);
      this.#size = rest.length;
      this.#wanted = bytes.length >= size ? headBytes : size;
    }
  }

  /** The driver makes room for a content before that comes. */
  #checkContent(frame: Buffer): void {
    if (frame[0] !== contentHeader) return;
    if (frame.length < headBytes + 12 || frame.readBigUInt64BE(headBytes + 4) > BigInt(this.#allowance))
      throw new NoAmqp('it sent more than it was asked for');
  }
}

function sizeOf(bytes: Buffer): number {
  if (bytes[0] === greeting) throw new NoAmqp('it speaks another version of AMQP than 0-9-1');
  const size = headBytes + bytes.readUInt32BE(3) + endBytes;
  if ((bytes[0] ?? 0) > 8 || size > mostFrameBytes) throw new NoAmqp('it speaks something else');
  return size;
}
