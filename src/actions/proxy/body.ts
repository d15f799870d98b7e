import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** The most of a body that is kept, so that the call can be made again after a 401 (contract, Proxy). */
export const replayLimitBytes = 1024 * 1024;

/** The caller's body: sent on as it comes, and kept while it is small. */
export interface CallBody {
  first: Buffer | Readable | null;
  /** The whole body once more, if all of it was kept. */
  again(): Buffer | null | undefined;
}

/**
 * Reads a small body of known length; streams everything else, and everything when `waits`: then the caller has not begun to
 * send. Undefined when the caller left midway.
 */
export async function readCallBody(request: IncomingMessage, waits: boolean): Promise<CallBody | undefined> {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const length = isChunked ? Infinity : Number(request.headers['content-length'] ?? 0);
  if (length === 0) return { first: null, again: () => null };
  if (isChunked || waits) return keepWhileSmall(request);
  if (length > replayLimitBytes) return { first: streamOf(request), again: () => undefined };
  const whole = await collect(request);
  return whole && { first: whole, again: () => whole };
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

function keepWhileSmall(request: IncomingMessage): CallBody {
  let kept: Buffer[] | undefined = [];
  let size = 0;
  const first = streamOf(request, (chunk) => {
    size += chunk.length;
    if (size > replayLimitBytes) kept = undefined;
    else kept?.push(chunk);
  });
  return { first, again: () => (request.complete && kept ? Buffer.concat(kept) : undefined) };
}

/**
 * The body as a stream of its own: whoever sends it may destroy it, when the answer comes before its end, and the caller's
 * socket lives on. What is left of it is then read and thrown away, so that the caller gets to read the answer.
 */
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
  request.on('data', give);
  request.pause();
  request.once('end', () => body.push(null));
  request.once('close', () => {
    if (!request.complete) body.destroy(new Error('the caller has left'));
  });
  return body;
}
