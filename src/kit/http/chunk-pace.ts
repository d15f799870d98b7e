import { IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** After so many chunks in a turn of the event loop nothing more is read in it: what was read, up to 64 KiB, holds ten thousand at most. */
const perTurn = 1_000;
/** Or after so many bytes, which takes some tenths of a millisecond: node reads up to 2 MiB of a connection in a turn. */
const bytesPerTurn = 256 * 1024;
/** Beyond so many chunks they must hold so many bytes each on average. */
const fewChunks = 50_000;
const leastBytes = 32;

/** How a body comes that costs more to receive than it holds. */
export const inTinyChunks = `comes in more than ${fewChunks} chunks that hold less than ${leastBytes} bytes on average`;
export const tinyChunks = `The body ${inTinyChunks}.`;

/** The chunks of one body. */
export class ChunkCount {
  #chunks = 0;
  #bytes = 0;
  #inTurn = 0;
  #bytesInTurn = 0;

  /** Whether they are too many and too small. */
  get isExceeded(): boolean {
    return this.#chunks > fewChunks && this.#bytes < this.#chunks * leastBytes;
  }

  /** Whether they are more than a turn reads. */
  get isTurnFull(): boolean {
    return this.#inTurn > perTurn || this.#bytesInTurn > bytesPerTurn;
  }

  add(bytes: number): void {
    this.#chunks += 1;
    this.#bytes += bytes;
    this.#inTurn += 1;
    this.#bytesInTurn += bytes;
  }

  beginTurn(): void {
    this.#inTurn = 0;
    this.#bytesInTurn = 0;
  }
}

/**
 * Keeps bodies in tiny chunks, and fast ones without end, from holding up others, whether anybody reads them yet or not: their connection is
 * read a few times in a turn of the event loop, not up to 32 times. What an answered request still sends is thrown away.
 */
export function paceChunks(server: Server): void {
  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
    if (coding === undefined && !(Number(length) > bytesPerTurn)) return;
    if (paces.has(request)) return;
    paces.set(request, new ChunkPace(request));
    // Node does so by itself when the answer ends, without a limit. Not before: whoever waits for 100 Continue would get it.
    response.prependOnceListener('finish', () => dropRest(request));
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, watch);
}

const paces = new WeakMap<IncomingMessage, ChunkPace>();

/** Whether the chunks that came so far are too many and too small. */
export function isInTinyChunks(request: IncomingMessage): boolean {
  return paces.get(request)?.isExceeded === true;
}

class ChunkPace {
  readonly #request: IncomingMessage;
  readonly #count = new ChunkCount();
  #isResting = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
    const push = IncomingMessage.prototype.push.bind(request);
    // By which node passes on each chunk.
    request.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      this.#pass(chunk?.length ?? 0);
      return push(chunk, encoding);
    };
  }

  get isExceeded(): boolean {
    return this.#count.isExceeded;
  }

  #pass(bytes: number): void {
    this.#count.add(bytes);
    if (this.#count.isTurnFull && !this.#isResting) this.#rest();
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
    atItsTurn(() => {
      this.#isResting = false;
      this.#count.beginTurn();
      Reflect.deleteProperty(request, '_read');
      // Where nobody reads it yet, or it is paused, it asks for more itself when it is read.
      if (isAsked || request.readableFlowing === true || request.complete) socket.resume();
    });
  }
}

/** Connections at rest, of all servers and calls of the process: one of them is read in a turn, however many there are. */
const resting: (() => void)[] = [];

export function atItsTurn(goOn: () => void): void {
  if (resting.push(goOn) === 1) setImmediate(next);
}

function next(): void {
  // It stays first until it is read: what it reads may make it rest again.
  resting[0]?.();
  resting.shift();
  if (resting.length > 0) setImmediate(next);
}

const dropped = new WeakSet<IncomingMessage>();

/** Reads the rest of a body and throws it away, so that the caller gets to read the answer. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed || dropped.has(request)) return;
  dropped.add(request);
  request.read(0);
  request.on('data', () => {
    if (isInTinyChunks(request)) request.socket.destroy();
  });
  request.resume();
}
