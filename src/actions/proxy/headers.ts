// RFC 9110, 7.6.1, and what older agents send besides.
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const callersOwn = new Set(['host', 'x-api-key', 'authorization', 'cookie', 'forwarded', 'expect']);

/** The headers for the provider: the caller's without ours, without credentials and hop-by-hop, plus the connection's. */
export function requestHeaders(
  rawHeaders: readonly string[],
  credential: Readonly<Record<string, string>>,
): string[] {
  const named = connectionNamed(rawHeaders);
  const replaced = new Set(Object.keys(credential).map((name) => name.toLowerCase()));
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const key = name.toLowerCase();
    if (hopByHop.has(key) || callersOwn.has(key) || replaced.has(key) || named.has(key)) continue;
    if (key.startsWith('x-svc-') || key.startsWith('x-forwarded-')) continue;
    kept.push(name, rawHeaders[i + 1] ?? '');
  }
  for (const [name, value] of Object.entries(credential)) kept.push(name, value);
  return kept;
}

/** The headers for the caller: the provider's without hop-by-hop and `Set-Cookie`. */
export function responseHeaders(rawHeaders: readonly string[]): string[] {
  const named = connectionNamed(rawHeaders);
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const key = name.toLowerCase();
    if (hopByHop.has(key) || key === 'set-cookie' || named.has(key)) continue;
    kept.push(name, rawHeaders[i + 1] ?? '');
  }
  return kept;
}

const none: ReadonlySet<string> = new Set();

/** The headers that `Connection` declares to be for this hop only. Framing is never one of them. */
function connectionNamed(rawHeaders: readonly string[]): ReadonlySet<string> {
  let named: Set<string> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] ?? '').toLowerCase() !== 'connection') continue;
    for (const part of (rawHeaders[i + 1] ?? '').split(',')) {
      const name = part.trim().toLowerCase();
      if (name === '' || name === 'close' || name === 'keep-alive' || name === 'content-length') continue;
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
