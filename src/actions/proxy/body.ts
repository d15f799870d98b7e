import type { IncomingMessage } from 'node:http';

/** The most of a body that is kept, so that the call can be made again after a 401 (contract, Proxy). */
export const replayLimitBytes = 1024 * 1024;

/** What undici takes as a body. */
export type OutgoingBody = Buffer | IncomingMessage | AsyncIterable<Buffer> | null;

/** The caller's body: sent on as it comes, and kept while it is small. */
export interface CallBody {
  first: OutgoingBody;
  /** The whole body once more, if all of it was kept. */
  again(): Buffer | null | undefined;
}

/** Reads a small body of known length; streams everything else. Undefined when the caller left midway. */
export async function readCallBody(request: IncomingMessage): Promise<CallBody | undefined> {
  const length = Number(request.headers['content-length'] ?? 0);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  if (!isChunked && length === 0) return { first: null, again: () => null };
  if (!isChunked && length > replayLimitBytes) return { first: request, again: () => undefined };
  if (isChunked) return keepWhileSmall(request);
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
  let ended = false;
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > replayLimitBytes) kept = undefined;
      else kept?.push(chunk);
      yield chunk;
    }
    ended = true;
  }
  return { first: pass(), again: () => (ended && kept ? Buffer.concat(kept) : undefined) };
}
