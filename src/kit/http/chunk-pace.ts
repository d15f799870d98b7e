import type { IncomingMessage } from 'node:http';

/** After so many chunks in a turn of the event loop nothing more is read in it: what was read, up to 64 KiB, holds ten thousand at most. */
const perTurn = 1_000;
/** Beyond so many chunks they must hold so many bytes each on average. */
const fewChunks = 50_000;
const leastBytes = 32;

/** What is wrong with a body that costs more to receive than it holds. */
export const tinyChunks = `The body comes in more than ${fewChunks} chunks that hold less than ${leastBytes} bytes on average.`;

/** Keeps a body in tiny chunks from holding up others: its connection is read once in a turn of the event loop, not up to 32 times. */
export class ChunkPace {
  readonly #request: IncomingMessage;
  #chunks = 0;
  #bytes = 0;
  #inTurn = 0;
  #isResting = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /** To be told of each chunk; false when they are too many and too small. */
  pass(bytes: number): boolean {
    this.#chunks += 1;
    this.#bytes += bytes;
    this.#inTurn += 1;
    if (this.#inTurn > perTurn && !this.#isResting) this.#rest();
    return this.#chunks <= fewChunks || this.#bytes >= this.#chunks * leastBytes;
  }

  /** Not by a pause of the request, in which the chunks of the next read would be kept one by one. */
  #rest(): void {
    const request = this.#request;
    const { socket } = request;
    this.#isResting = true;
    // A stream asks for more after each chunk, which would end the pause at once.
    let isAsked = false;
    request._read = () => void (isAsked = true);
    socket.pause();
    setImmediate(() => {
      this.#isResting = false;
      this.#inTurn = 0;
      Reflect.deleteProperty(request, '_read');
      if (isAsked || request.complete) socket.resume();
    });
  }
}

const dropped = new WeakSet<IncomingMessage>();

/** Reads the rest of a body and throws it away, so that the caller gets to read the answer. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed || dropped.has(request)) return;
  dropped.add(request);
  const pace = new ChunkPace(request);
  // Node throws away by itself what nobody has begun to read, without a limit for a turn.
  request.read(0);
  request.on('data', (chunk: Buffer) => {
    if (!pace.pass(chunk.length)) request.socket.destroy();
  });
  request.resume();
}
