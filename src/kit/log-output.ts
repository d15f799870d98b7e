import { write, writeSync } from 'node:fs';

/** Lines beyond this are dropped while nobody takes them. */
const mostWaitingBytes = 16 * 1024 * 1024;
/** In one call to the system. */
const atOnceBytes = 64 * 1024;
/** A disk that is full, a reader that is slow or a terminal that is gone is tried again after this long. */
const againMs = 200;
/** A slow reader is waited for so many times, 10 ms each, where nothing is written later. */
const patience = 10;

/**
 * Where a log goes: lines are written behind one another without waiting, and no fault of the other side stops anybody. Pino's own
 * destination tries for ever where the disk is full, in the `flushSync` that a fatal line and the end of the process call.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #lines: string[] = [];
  #waitingBytes = 0;
  /** Taken out of the lines, and not written yet. */
  #part: Buffer | undefined;
  #state: 'idle' | 'writing' | 'resting' = 'idle';
  #flushed: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > mostWaitingBytes) return;
    this.#lines.push(line);
    this.#waitingBytes += bytes;
    this.#pump();
  }

  /** Calls back when nothing waits any more, or the other side takes nothing. */
  flush(done: () => void): void {
    this.#flushed.push(done);
    if (this.#state === 'resting') this.#tellFlushed();
    else this.#pump();
  }

  /** Writes what the other side takes now, beside what another thread is writing. */
  flushSync(): void {
    const underWay = this.#state === 'writing' ? this.#part : undefined;
    if (underWay) this.#part = undefined;
    for (let tries = 0; tries < patience;) {
      const bytes = this.#next();
      if (!bytes) break;
      try {
        this.#took(writeSync(this.#fd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
    if (!underWay) return;
    if (this.#part) this.#lines.unshift(this.#part.toString('utf8'));
    this.#part = underWay;
  }

  #next(): Buffer | undefined {
    if (this.#part || this.#lines.length === 0) return this.#part;
    let text = '';
    while (this.#lines.length > 0 && text.length < atOnceBytes) text += this.#lines.shift() ?? '';
    this.#part = Buffer.from(text);
    return this.#part;
  }

  #took(bytes: number): void {
    const { length } = this.#part ?? [];
    this.#waitingBytes -= bytes;
    this.#part = bytes < length ? this.#part?.subarray(bytes) : undefined;
  }

  #pump(): void {
    if (this.#state !== 'idle') return;
    const bytes = this.#next();
    if (!bytes) return this.#tellFlushed();
    this.#state = 'writing';
    write(this.#fd, bytes, (error, written) => {
      if (error) return this.#rest();
      this.#state = 'idle';
      this.#took(written);
      this.#pump();
    });
  }

  #rest(): void {
    this.#state = 'resting';
    this.#tellFlushed();
    setTimeout(() => {
      this.#state = 'idle';
      this.#pump();
    }, againMs).unref();
  }

  #tellFlushed(): void {
    const told = this.#flushed;
    this.#flushed = [];
    for (const done of told) done();
  }
}
