import { hopByHop } from '../../kit/http/hop-by-hop.ts';
import { addToQuota, type Quota, type QuotaNames } from '../../connections/index.ts';

const none: ReadonlySet<string> = new Set();
const callersOwn = new Set(['host', 'x-api-key', 'authorization', 'cookie', 'forwarded', 'expect']);

/** Headers for node:http that undici sets by itself or cannot send. A body of known length has no trailers. */
export const framedByLength: ReadonlySet<string> = new Set(['expect']);
export const framedByChunks: ReadonlySet<string> = new Set(['transfer-encoding', 'trailer', 'expect']);

const keys = new Map<string, string>();
/** More than the names in use. A caller who invents names fills it once; later names are not kept. */
const mostKeys = 2_000;

/** A header's name in lower case. The same few names come with every call, so they are kept. */
export function keyOf(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = name.toLowerCase();
  if (keys.size < mostKeys && name.length <= 64) keys.set(name, key);
  return key;
}

/**
 * The headers for the provider: the caller's without ours, without credentials and hop-by-hop, plus the connection's, whose
 * names are lower case.
 */
export function requestHeaders(
  rawHeaders: readonly string[],
  credential: Readonly<Record<string, string>>,
  keep: ReadonlySet<string> = none,
): string[] {
  const named = connectionNamed(rawHeaders);
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const key = keyOf(name);
    if ((staysHere(key) && !keep.has(key)) || Object.hasOwn(credential, key) || named.has(key)) continue;
    kept.push(name, rawHeaders[i + 1] ?? '');
  }
  for (const [name, value] of Object.entries(credential)) kept.push(name, value);
  return kept;
}

function staysHere(key: string): boolean {
  return (
    hopByHop.has(key) || callersOwn.has(key) || key.startsWith('x-svc-') || key.startsWith('x-forwarded-')
  );
}

/** The trailers that go on, to either side: none that frames a message, or that would not pass as a header. */
export function trailersOf(rawTrailers: readonly string[]): string[] {
  return rawTrailers.filter((_part, index) => {
    const key = keyOf(rawTrailers[index - (index % 2)] ?? '');
    return !staysHere(key) && !framing.has(key) && key !== 'set-cookie';
  });
}

/** The head of a provider's answer. */
export interface AnswerHead {
  /** For the caller: without hop-by-hop headers, `Set-Cookie` and `x-svc-*`. */
  headers: string[];
  hasLength: boolean;
  /** The names of the trailers that were announced. */
  trailer: string | undefined;
  /** The transfer codings, in lower case; undefined when there are none. */
  coding: string | undefined;
  quota: Quota | undefined;
}

/** Reads the provider's headers in one pass; `quotaNames` are those that tell its quota. */
export function readAnswerHead(rawHeaders: readonly string[], quotaNames?: QuotaNames): AnswerHead {
  const named = connectionNamed(rawHeaders);
  const head: AnswerHead = {
    headers: [],
    hasLength: false,
    trailer: undefined,
    coding: undefined,
    quota: undefined,
  };
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    const key = keyOf(name);
    if (key === 'content-length') head.hasLength = true;
    else if (key === 'transfer-encoding')
      head.coding = [head.coding, value.toLowerCase()].filter(Boolean).join(', ');
    else if (key === 'trailer') head.trailer = [head.trailer, value].filter(Boolean).join(', ');
    const member = quotaNames?.get(key);
    if (member) addToQuota((head.quota ??= {}), member, value);
    if (hopByHop.has(key) || key === 'set-cookie' || key.startsWith('x-svc-') || named.has(key)) continue;
    head.headers.push(name, value);
  }
  return head;
}

/** The same headers without one of them. */
export function withoutHeader(headers: readonly string[], key: string): string[] {
  return headers.filter((_part, index) => keyOf(headers[index - (index % 2)] ?? '') !== key);
}

type Query = Readonly<Record<string, string>>;

/** Headers that may repeat the URL of the call (`Location`, `Link`), without the credential that we put into its query. */
export function withoutQueryKeys(headers: readonly string[], query: Query): string[] {
  return headers.map((part, index) => (index % 2 === 0 ? part : withoutKeys(part, query)));
}

/** The query of a URL, also inside a text. */
const queryPart = /\?([^#\s"<>]*)/g;
/** A shorter text could stand in a URL for another reason. */
const leastSecret = 8;

function withoutKeys(value: string, query: Query): string {
  const cut = value.replace(queryPart, (_whole, text: string) => {
    const kept = text.split('&').filter((part) => {
      const [name = '', told = ''] = part.split('=', 2);
      return query[decoded(name)] !== decoded(told);
    });
    return kept.length > 0 ? `?${kept.join('&')}` : '';
  });
  // Inside another parameter, such as the place to return to.
  return Object.values(query)
    .flatMap((secret) => (secret.length < leastSecret ? [] : [secret, encodeURIComponent(secret)]))
    .reduce((text, secret) => text.replaceAll(secret, ''), cut);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Whether a list of transfer codings is `chunked` and nothing else: another one would be lost on the next hop. */
export function isChunkedOnly(coding: string): boolean {
  return coding.trim().toLowerCase() === 'chunked';
}

const framing = new Set(['content-length', 'transfer-encoding']);
/** Words of `Connection` that name no header, and headers that it may not remove. */
const notNamed = new Set([...framing, 'close', 'keep-alive', 'expect', 'host']);

/** The headers that `Connection` declares to be for this hop only. */
function connectionNamed(rawHeaders: readonly string[]): ReadonlySet<string> {
  let named: Set<string> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (keyOf(rawHeaders[i] ?? '') !== 'connection') continue;
    for (const part of (rawHeaders[i + 1] ?? '').split(',')) {
      const name = part.trim().toLowerCase();
      if (name === '' || notNamed.has(name)) continue;
      named ??= new Set();
      named.add(name);
    }
  }
  return named ?? none;
}

/** undici hands the headers of HTTP/1.1 on as bytes. */
export function rawPairs(headers: unknown): string[] {
  if (!Array.isArray(headers)) return [];
  return headers.map((part: Buffer | string) => (typeof part === 'string' ? part : part.toString('latin1')));
}

/** Names in lower case, repeated ones joined. */
export function asRecord(rawHeaders: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const key = keyOf(rawHeaders[i] ?? '');
    const value = rawHeaders[i + 1] ?? '';
    record[key] = record[key] === undefined ? value : `${record[key]}, ${value}`;
  }
  return record;
}
