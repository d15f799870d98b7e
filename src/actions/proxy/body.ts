import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { bodyBudget, type BodyShare } from '../../kit/http/body-budget.ts';
import { ByteBlocks } from '../../kit/http/byte-blocks.ts';
import { isInTinyChunks, tinyChunks } from '../../kit/http/chunk-pace.ts';
import { requestWithinMs } from '../../kit/http/request-time.ts';
import { problem, type Problem } from '../../kit/problem.ts';

/** The largest body that is kept to repeat the call after a 401. */
export const replayLimitBytes = 1024 * 1024;

/** What is sent on as a body. */
export type OutgoingBody = Buffer | Readable | null;

/** The caller's body: sent on as it comes, and kept while it is small. */
export interface CallBody {
  first: OutgoingBody;
  /** The whole body once more, if all of it was kept. */
  again(): Buffer | null | undefined;
  /** Gives back what is kept; afterwards there is no body to repeat. */
  release(): void;
}

const broken = new WeakMap<IncomingMessage, Error>();

/** Fails the reader of the body, now or later: the rest cannot be read. */
export function breakBody(request: IncomingMessage, error: Error): void {
  broken.set(request, error);
  request.emit('error', error);
}

/**
 * Reads a small body of known length; streams everything else, and everything when `isNative`: then the caller may not have
 * begun to send, or trailers follow. Undefined when the caller left midway; throws when the body is broken.
 */
export async function readCallBody(
  request: IncomingMessage,
  isNative: boolean,
): Promise<CallBody | undefined> {
  refuseBroken(request);
  // It left while its credentials were looked up: nothing tells of that any more.
  if (request.destroyed) return undefined;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const length = isChunked ? Infinity : Number(request.headers['content-length'] ?? 0);
  if (length === 0) return { first: null, again: () => null, release: () => undefined };
  const share = bodyBudget.open('proxied');
  if (isChunked || isNative) return keepWhileSmall(request, share);
  // Where there is no room to keep it, it passes like a large one.
  if (length > replayLimitBytes || !share.take(length)) return passing(borrowed(request));
  try {
    const whole = await collectInTime(request);
    refuseBroken(request);
    if (whole) return { first: whole, again: () => whole, release: () => share.end() };
  } catch (error) {
    share.end();
    throw error;
  }
  share.end();
  return undefined;
}

function passing(first: OutgoingBody): CallBody {
  return { first, again: () => undefined, release: () => undefined };
}

function refuseBroken(request: IncomingMessage): void {
  const error = broken.get(request);
  if (error) throw error;
}

/** After the answer: what still comes of the request is thrown away, and for so long only. */
export function limitRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), requestWithinMs).unref();
  request.once('close', () => clearTimeout(timer));
}

async function collectInTime(request: IncomingMessage): Promise<Buffer | undefined> {
  const timer = setTimeout(() => breakBody(request, problem('request-timeout')), requestWithinMs);
  try {
    return await collect(request);
  } finally {
    clearTimeout(timer);
  }
}

function collect(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const blocks = new ByteBlocks();
    request.on('data', (chunk: Buffer) => blocks.add(chunk));
    request.once('end', () => resolve(blocks.whole()));
    request.once('close', () => resolve(undefined));
    request.once('error', () => resolve(undefined));
  });
}

function keepWhileSmall(request: IncomingMessage, share: BodyShare): CallBody {
  let kept: ByteBlocks | undefined = new ByteBlocks();
  const release = (): void => {
    kept = undefined;
    share.end();
  };
  const first = streamOf(request, (chunk) => {
    if (isInTinyChunks(request) && !broken.has(request)) breakBody(request, inTinyChunks());
    if (!kept) return;
    if (kept.length + chunk.length > replayLimitBytes || !share.take(chunk.length)) release();
    else kept.add(chunk);
  });
  let isWhole = false;
  // What comes after it was destroyed is thrown away.
  request.once('end', () => (isWhole = !first.destroyed));
  return { first, again: () => (isWhole ? kept?.whole() : undefined), release };
}

function inTinyChunks(): Problem {
  return problem('proxy-request-invalid', {
    detail: `${tinyChunks} What came before may have reached the provider.`,
    remedy: 'Send larger chunks.',
  });
}

/**
 * The request as a body for undici. It has what undici needs of a stream and costs less than another stream. undici may
 * destroy it when the answer comes before the body's end. The caller's socket stays open: the rest is read and thrown
 * away, so that the caller gets to read the answer.
 */
function borrowed(request: IncomingMessage): Readable {
  const body = {
    destroyed: false,
    _readableState: { autoDestroy: true },
    pipe: request.pipe.bind(request),
    on(name: string, listener: () => void) {
      request.on(name, listener);
      return body;
    },
    off(name: string, listener: () => void) {
      request.off(name, listener);
      return body;
    },
    removeListener: (name: string, listener: () => void) => body.off(name, listener),
    pause: () => request.pause(),
    resume: () => request.resume(),
    destroy() {
      body.destroyed = true;
      request.resume();
    },
    get readableEnded() {
      return request.readableEnded;
    },
    get closed() {
      return request.closed;
    },
  };
  return body as unknown as Readable;
}

/** The same as a real stream, which passes on together what came together: each piece costs a write. `onChunk` hears of each. */
function streamOf(request: IncomingMessage, onChunk: (chunk: Buffer) => void): Readable {
  let waiting = new ByteBlocks();
  const body = new Readable({
    highWaterMark: 64 * 1024,
    read: () => void request.resume(),
    destroy(error, done) {
      request.off('data', give);
      request.resume();
      done(error);
    },
  });
  function give(chunk: Buffer): void {
    onChunk(chunk);
    if (waiting.length === 0) process.nextTick(pass);
    waiting.add(chunk);
  }
  function pass(): void {
    if (waiting.length === 0) return;
    const bytes = waiting.whole();
    waiting = new ByteBlocks();
    if (!body.push(bytes)) request.pause();
  }
  // The caller may leave before anybody sends the body on.
  body.on('error', () => undefined);
  request.on('data', give);
  request.pause();
  request.once('end', () => {
    pass();
    body.push(null);
  });
  request.once('error', (error) => body.destroy(error));
  request.once('close', () => {
    if (!request.complete) body.destroy(new Error('the caller has left'));
  });
  return body;
}
