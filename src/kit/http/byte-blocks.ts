/** A chunk of so many bytes is kept as it is; a smaller one costs less when it is copied. */
const largeChunkBytes = 16 * 1024;
const [smallestBlock, largestBlock] = [1024, 64 * 1024];

const none = Buffer.alloc(0);

/** Collects bytes that come in chunks of any size, in memory of a small multiple of their number. */
export class ByteBlocks {
  readonly #full: Buffer[] = [];
  #open: Buffer = none;
  /** Of the open block. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    // Most bodies come in one chunk.
    if (this.#length === 0) this.#full.push(chunk);
    else this.#addNext(chunk);
    this.#length += chunk.length;
  }

  /** What came so far, in its order. */
  parts(): Buffer[] {
    return this.#used === 0 ? [...this.#full] : [...this.#full, this.#open.subarray(0, this.#used)];
  }

  whole(): Buffer {
    const parts = this.parts();
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, this.#length);
  }

  clear(): void {
    this.#full.length = 0;
    this.#open = none;
    this.#used = 0;
    this.#length = 0;
  }

  #addNext(chunk: Buffer): void {
    const fitting = Math.min(chunk.length, this.#open.length - this.#used);
    // The room of a block is used before the next one, or a large chunk would leave it empty.
    if (fitting > 0) this.#copy(chunk, 0, fitting);
    if (fitting === chunk.length) return;
    this.#close();
    if (chunk.length - fitting >= largeChunkBytes) return void this.#full.push(chunk.subarray(fitting));
    const size = Math.min(Math.max(this.#length, chunk.length, smallestBlock), largestBlock);
    this.#open = Buffer.allocUnsafeSlow(size);
    this.#copy(chunk, fitting, chunk.length);
  }

  #copy(chunk: Buffer, from: number, to: number): void {
    chunk.copy(this.#open, this.#used, from, to);
    this.#used += to - from;
  }

  #close(): void {
    if (this.#used > 0) this.#full.push(this.#open.subarray(0, this.#used));
    this.#open = none;
    this.#used = 0;
  }
}
