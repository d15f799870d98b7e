import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { parseExactly } from '../exact-json.ts';
import { parseJson } from '../json.ts';
import { problem, refuse, type Problem } from '../problem.ts';
import { firstInvalidByte } from '../utf8.ts';
import { bodyBudget, type BodyShare } from './body-budget.ts';
import { ByteBlocks } from './byte-blocks.ts';
import { dropRest, isInTinyChunks, tinyChunks } from './chunk-pace.ts';
import { JsonOutline } from './json-outline.ts';
import { bodyNulIssues } from './nul.ts';
import { noteExact } from './stand-ins.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How many values a body may hold; 20,000 unless more are needed. */
    bodyValues?: number;
  }
  interface FastifyRequest {
    /** Set by who found out who the caller is. A body of anybody else has no room among those of known callers. */
    isKnown?: true;
    /** SHA-256 of the body as sent; for requests with an `Idempotency-Key` only. */
    bodyDigest?: Buffer;
    /** True when the body is so large that each step of reading it has a turn of the event loop to itself. */
    isLarge?: true;
  }
}

/** Shorter texts hold few values and are read within two milliseconds. */
const shortBytes = 64 * 1024;
const usualValues = 20_000;

/** Takes what a body holds, or the problem that names what is wrong with it. */
type Done = (fault: Error | null, value?: unknown) => void;

/** A parser of JSON bodies in strict UTF-8. */
export function readJsonBody(request: FastifyRequest, payload: Readable, done: Done): void {
  const outlined = (maxValues: number): JsonOutline => new JsonOutline(maxValues);
  read(request, payload, outlined, done, (body) => valueOf(request, body));
}

/** A parser of bodies that are text, in strict UTF-8. */
export function readTextBody(request: FastifyRequest, payload: Readable, done: Done): void {
  read(
    request,
    payload,
    () => undefined,
    done,
    ({ bytes }) => textOf(bytes),
  );
}

/**
 * Until a body is read, its bytes count in the budget of the process. Most come in one piece and are read at once: by a callback, since
 * every request would pay for each promise on its way.
 */
function read(
  request: FastifyRequest,
  payload: Readable,
  outlined: Outlined,
  done: Done,
  interpret: (body: Received) => unknown,
): void {
  const share = bodyBudget.open(request.isKnown ? 'known' : 'anybody');
  const end: Done = (fault, value) => {
    share.end();
    done(fault, value);
  };
  receive(request, payload, share, outlined, (fault, body) => {
    if (!body) return end(fault);
    let value: unknown;
    try {
      value = interpret(body);
    } catch (error) {
      return end(error as Error);
    }
    if (value instanceof Promise) value.then((late: unknown) => end(null, late), end);
    else end(null, value);
  });
}

/** Whether a route takes requests of callers who are not known. */
export function isForAnybody({ config }: { config?: object }): boolean {
  return config !== undefined && 'scopes' in config && config.scopes === 'public';
}

interface Received {
  bytes: Buffer;
  /** Of a body that is not short. */
  outline: JsonOutline | undefined;
}

type Outlined = (maxValues: number) => JsonOutline | undefined;

/** A promise of the value where the body is large. */
function valueOf(request: FastifyRequest, { bytes, outline }: Received): unknown {
  if (request.headers['idempotency-key'] !== undefined) {
    request.bodyDigest = createHash('sha256').update(bytes).digest();
  }
  if (outline) return readLarge(request, bytes, outline);
  const text = textOf(bytes);
  if (text.trim() === '') return refuseEmpty(request);
  const value = parsed(request, text, (whole) => parseJson(whole, noteExact));
  if (mayHoldOddTexts(text)) refuseOddTexts(text, value);
  return value;
}

async function readLarge(request: FastifyRequest, bytes: Buffer, outline: JsonOutline): Promise<unknown> {
  request.isLarge = true;
  await nextTurn();
  const text = textOf(bytes);
  if (text.trim() === '') return refuseEmpty(request);
  await nextTurn();
  const value = parsed(request, text, (whole): unknown =>
    outline.mayLoseDigits ? parseExactly(whole, noteExact) : JSON.parse(whole),
  );
  await nextTurn();
  if (mayHoldOddTexts(text)) refuseOddTexts(text, value);
  await nextTurn();
  return value;
}

/** Refuses a charset other than UTF-8, and a compressed body. */
function refuseCoding(headers: IncomingHttpHeaders): Problem | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const { 'transfer-encoding': transfer = 'chunked' } = headers;
  if (transfer.toLowerCase() !== 'chunked') {
    return problem('unsupported-media-type', {
      detail: `The transfer coding ${transfer} is not supported; send the body as it is, in chunks or with its length.`,
    });
  }
  if (encoding.toLowerCase() !== 'identity') {
    return problem('unsupported-media-type', {
      detail: `The content encoding ${encoding} is not supported; send the body as it is.`,
    });
  }
  const charset = charsetsOf(type).find((name) => !/^utf-?8$/i.test(name));
  if (charset === undefined) return undefined;
  return problem('unsupported-media-type', {
    detail: `The charset ${charset} is not supported; send the body in UTF-8.`,
  });
}

/** Most types name none, or one; of two, readers take either. */
function charsetsOf(type: string): string[] {
  if (!type.includes(';')) return [];
  return [...type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].map(([, name = '']) => name);
}

/**
 * Reads the bytes of the body. While they arrive they are held against the route's limits of bytes and, when there are many, of values,
 * and against what there is room for.
 */
function receive(
  request: FastifyRequest,
  payload: Readable,
  share: BodyShare,
  outlined: Outlined,
  done: (fault: Problem | null, body?: Received) => void,
): void {
  const { bodyLimit, config } = request.routeOptions;
  const isTooLong = Number(request.headers['content-length'] ?? 0) > bodyLimit;
  const refusal = refuseCoding(request.headers) ?? (isTooLong ? tooLarge(bodyLimit) : undefined);
  if (refusal) return done(refusal);
  const blocks = new ByteBlocks();
  let outline: JsonOutline | undefined;
  let isDone = false;
  const faultOf = (chunk: Buffer): Problem | undefined => {
    if (blocks.length + chunk.length > bodyLimit) return tooLarge(bodyLimit);
    if (isInTinyChunks(request.raw)) return problem('malformed-request', { detail: tinyChunks });
    if (!share.take(chunk.length)) return noRoom();
    blocks.add(chunk);
    if (blocks.length <= shortBytes) return undefined;
    // The first time, the bytes before are counted, too.
    const uncounted = outline ? [chunk] : blocks.parts();
    outline ??= outlined(config.bodyValues ?? usualValues);
    for (const bytes of uncounted) {
      const excess = outline?.add(bytes);
      if (excess !== undefined) return tooMuch(excess);
    }
    return undefined;
  };
  // Of several ends the first counts.
  const end = (fault: Problem | null): void => {
    if (isDone) return;
    isDone = true;
    if (fault) done(fault);
    else done(null, { bytes: blocks.whole(), outline });
  };
  function take(chunk: Buffer): void {
    const fault = faultOf(chunk);
    if (!fault) return;
    payload.removeListener('data', take);
    // Its share ends now, and its other listeners stay until the rest has come.
    blocks.clear();
    dropRest(request.raw);
    end(fault);
  }
  const broken = (cause?: Error): void =>
    end(problem('malformed-request', { detail: 'The body ended before it was complete.', cause }));
  payload.on('data', take);
  // The ends come once each; `once` would wrap every listener.
  payload.on('end', () => end(null));
  payload.on('error', broken);
  payload.on('close', () => {
    if (!payload.readableEnded) broken();
  });
}

function noRoom(): Problem {
  return problem('overloaded', {
    detail: 'The bodies that arrive just now fill the memory that this node has for them.',
    retryAfterSeconds: 2,
  });
}

function tooMuch(excess: string): Problem {
  return refuse([{ in: 'body', name: 'body', detail: `${excess}; send less in one request` }]);
}

function tooLarge(limit: number): Problem {
  return problem('body-too-large', {
    detail: `The body is larger than the ${limit} bytes that are taken here.`,
  });
}

/** Without a byte order mark, which some editors and exports put first (RFC 8259, 8.1). */
function textOf(bytes: Buffer): string {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  if (isUtf8(bytes)) return bytes.toString('utf8', isMarked ? 3 : 0);
  throw problem('malformed-json', {
    detail: `The body is not UTF-8: byte ${firstInvalidByte(bytes)} (from 0).`,
    remedy: 'Send text in UTF-8; a file is saved as UTF-8 first.',
  });
}

/** Many clients send `content-type: application/json` with every request. Where no body is required, an empty one is accepted. */
function refuseEmpty({ routeOptions }: FastifyRequest): null | undefined {
  const wanted = routeOptions.schema?.body as { type?: string | string[] } | undefined;
  if (wanted === undefined) return undefined;
  if (wanted.type?.includes('null')) return null;
  throw problem('malformed-json', { detail: 'The body is empty.' });
}

function parsed(request: FastifyRequest, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw problem('malformed-json', {
      detail: `The body is not JSON: ${(error as Error).message}`,
      ...otherTypes(request),
      cause: error,
    });
  }
}

/** What was sent may be of another type that the route takes. */
export function otherTypes({ routeOptions }: FastifyRequest): { remedy?: string } {
  const { content = {} } = (routeOptions.schema?.body ?? {}) as { content?: object };
  const types = Object.keys(content).filter((type) => type !== 'application/json');
  if (types.length === 0) return {};
  return { remedy: `Send a JSON document, or name what you send: \`Content-Type: ${types.join(' or ')}\`.` };
}

/** A key may be written with escapes. Two tests are many times as fast as one pattern. */
function mayHoldOddTexts(text: string): boolean {
  return (
    text.includes('__proto__') ||
    (text.includes('\\u') && ['\\u00', '\\ud', '\\uD'].some((escape) => text.includes(escape)))
  );
}

/** Keys named `__proto__`, and NUL and halves of surrogate pairs, which cannot be kept or passed on as they are. */
function refuseOddTexts(text: string, body: unknown): void {
  // JSON has no other way to write it; the escapes of other characters are common, and a second walk costs.
  const nul = text.includes('\\u0000') ? bodyNulIssues(body) : [];
  if (nul.length > 0) throw refuse(nul);
  const left: [value: unknown, path: string][] = [[body, '']];
  for (let next = left.pop(); next; next = left.pop()) {
    const [value, path] = next;
    if (typeof value === 'string' && !value.isWellFormed()) throw oddText(path);
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) {
      throw problem('malformed-json', { detail: 'The key "__proto__" is not accepted.' });
    }
    const isList = Array.isArray(value);
    for (const [key, child] of Object.entries(value)) {
      if (!key.isWellFormed()) throw oddText(path);
      left.push([child, isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`]);
    }
  }
}

function oddText(path: string): Problem {
  const name = path === '' ? 'body' : path;
  return refuse([{ in: 'body', name, detail: 'holds half of a surrogate pair, which is no character' }]);
}
