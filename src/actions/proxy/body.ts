import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { requestWithinMs } from '../../kit/http/request-time.ts';
import { problem } from '../../kit/problem.ts';

/** The largest body that is kept to repeat the call after a 401. */
export const replayLimitBytes = 1024 * 1024;

/** What is sent on as a body. */
export type OutgoingBody = Buffer | Readable | null;

/** The caller's body: sent on as it comes, and kept while it is small. */
export interface CallBody {
  first: OutgoingBody;
  /** The whole body once more, if all of it was kept. */
  again(): Buffer | null | undefined;
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
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const length = isChunked ? Infinity : Number(request.headers['content-length'] ?? 0);
  if (length === 0) return { first: null, again: () => null };
  if (isChunked || isNative) return keepWhileSmall(request, isNative ? streamOf : borrowed);
  if (length > replayLimitBytes) return { first: borrowed(request), again: () => undefined };
  const whole = await collectInTime(request);
  refuseBroken(request);
  return whole && { first: whole, again: () => whole };
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
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.once('close', () => resolve(undefined));
    request.once('error', () => resolve(undefined));
  });
}

type Streaming = (request: IncomingMessage, onChunk?: (chunk: Buffer) => void) => Readable;

function keepWhileSmall(request: IncomingMessage, streaming: Streaming): CallBody {
  let kept: Buffer[] | undefined = [];
  let size = 0;
  const first = streaming(request, (chunk) => {
    size += chunk.length;
    if (size > replayLimitBytes) kept = undefined;
    else kept?.push(chunk);
  });
  return { first, again: () => (request.complete && kept ? Buffer.concat(kept) : undefined) };
}

/**
 * The request as a body for undici. It has what undici needs of a stream and costs less than another stream. undici may
 * destroy it when the answer comes before the body's end. The caller's socket stays open: the rest is read and thrown
 * away, so that the caller gets to read the answer.
 */
function borrowed(request: IncomingMessage, onChunk?: (chunk: Buffer) => void): Readable {
  if (onChunk) request.on('data', onChunk).pause();
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
      if (onChunk) request.off('data', onChunk);
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

/** The same as a real stream, for node:http. */
function streamOf(request: IncomingMessage, onChunk?: (chunk: Buffer) => void): Readable {
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
    onChunk?.(chunk);
    if (!body.push(chunk)) request.pause();
  }
  // The caller may leave before anybody sends the body on.
  body.on('error', () => undefined);
  request.on('data', give);
  request.pause();
  request.once('end', () => body.push(null));
  request.once('error', (error) => body.destroy(error));
  request.once('close', () => {
    if (!request.complete) body.destroy(new Error('the caller has left'));
  });
  return body;
}
