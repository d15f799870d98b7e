import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import type { Platform } from '../platform.ts';
import { startRawPlatform } from '../raw-customer.ts';
import { rawExchange, startRawProvider, type RawMessage, type RawProvider } from '../raw-message.ts';

const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
const chunked = (parts: Buffer[], trailers = ''): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
    Buffer.from(`0\r\n${trailers}\r\n`),
  ]);
const parts = [bytes.subarray(0, 5), bytes.subarray(5, 1_000), bytes.subarray(1_000)];

/** Framing headers, and the bytes behind them. */
const requestBodies: Record<string, [string[], Buffer]> = {
  'no body': [[], Buffer.alloc(0)],
  'an empty body': [['Content-Length: 0'], Buffer.alloc(0)],
  'a body of known length': [[`Content-Length: ${bytes.length}`], bytes],
  'a body in chunks': [['Transfer-Encoding: chunked'], chunked(parts)],
  'a body in chunks with trailers': [
    ['Transfer-Encoding: chunked', 'Trailer: X-Sum, X-Other'],
    chunked(parts, 'X-Sum: 1\r\nX-Other: two words\r\n'),
  ],
  'a packed body': [['Content-Encoding: gzip', `Content-Length: ${gzipSync(bytes).length}`], gzipSync(bytes)],
};
const answerBodies: Record<string, [string[], Buffer]> = {
  'no body': [['Content-Length: 0'], Buffer.alloc(0)],
  'a body of known length': [[`Content-Length: ${bytes.length}`], bytes],
  'a body in chunks': [['Transfer-Encoding: chunked'], chunked(parts)],
  'a body in chunks with trailers': [
    ['Transfer-Encoding: chunked', 'Trailer: X-Sum'],
    chunked(parts, 'X-Sum: 1\r\nx-more: 2\r\n'),
  ],
  'a body until the end of the connection': [[], bytes],
  'a packed body': [['Content-Encoding: gzip', `Content-Length: ${gzipSync(bytes).length}`], gzipSync(bytes)],
};
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'];
const statuses = [
  '200 OK',
  '201 Created',
  '202 ',
  '204 No Content',
  '206 Partial Content',
  '207 Multi-Status',
  '301 Moved Permanently',
  '303 See Other',
  '304 Not Modified',
  '307 Temporary Redirect',
  '400 Bad Request',
  '401 Unauthorized',
  '403 Forbidden',
  '404 Not Found',
  '409 Conflict',
  "418 I'm a teapot",
  '422 Unprocessable',
  '429 Too Many',
  '451 \xc3\xa9t\xc3\xa9',
  '500 Oops',
  '502 Bad',
  '503 Down',
  '599 Custom Thing',
];

// What docs/contract.md names under Proxy, and nothing else.
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const exemptOut = new Set([
  ...hopByHop,
  'host',
  'x-api-key',
  'authorization',
  'cookie',
  'forwarded',
  'api-key',
]);
const exemptBack = new Set([...hopByHop, 'set-cookie']);

interface Compared {
  startLine: string;
  headers: [string, string][];
  length: string;
  body: string;
  trailers: [string, string][];
}

/** A message without what the contract exempts. The name of the length header has no case that anybody could tell. */
function compared(message: RawMessage | undefined, exempt: ReadonlySet<string>): Compared {
  if (!message) throw new Error('there is no message');
  const { startLine, headers, body, trailers } = message;
  const told = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? '0';
  // A 204 has none to tell (RFC 9110, 8.6).
  const length = /^HTTP\/1.1 204 /.test(startLine) ? '0' : told;
  return {
    startLine,
    length,
    headers: headers.filter(([name]) => {
      const key = name.toLowerCase();
      return !exempt.has(key) && key !== 'content-length' && !/^x-(svc|forwarded)-/.test(key);
    }),
    body: body.toString('base64'),
    trailers,
  };
}

describe('test/journeys/proxy-conformance', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  let platform: Platform;
  let ours: string[];
  let connect: () => Promise<void>;

  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    const raw = await startRawPlatform(test.url, provider.url);
    platform = raw.platform;
    connect = () => raw.connect();
    ours = Object.entries(raw.ours).map(([name, value]) => `${name}: ${value}`);
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await platform?.stop();
    await provider?.close();
    await test?.drop();
  });

  const requestOf = (method: string, target: string, lines: string[], body: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
      body,
    ]);

  /** Makes the call directly and through the proxy: what each side saw, without what the contract exempts. */
  async function compare(
    method: string,
    target: string,
    lines: string[],
    body: Buffer,
  ): Promise<{ proxied: unknown[]; direct: unknown[] }> {
    const own = ['Host: provider.example', ...lines];
    const direct = await rawExchange(provider.url, requestOf(method, target, own, body), { method });
    const sentDirectly = provider.seen.at(-1);
    provider.seen.length = 0;
    const proxied = await rawExchange(platform.proxy, requestOf(method, target, [...own, ...ours], body), {
      method,
    });
    const sent = provider.seen.filter(({ startLine }) => startLine === sentDirectly?.startLine);
    const isOurs = proxied.message?.headers.some(([name]) => name.toLowerCase() === 'x-svc-problem');
    return {
      proxied: [
        ...sent.map((one) => compared(one, exemptOut)),
        compared(proxied.message, exemptBack),
        isOurs,
      ],
      direct: [compared(sentDirectly, exemptOut), compared(direct.message, exemptBack), false],
    };
  }

  it.each(methods)('§4.6 %s passes with every form of body, to the byte', async (method) => {
    for (const [form, [lines, body]] of Object.entries(requestBodies)) {
      // A body after a GET or HEAD is legal and rare; trailers need a body.
      if (method === 'HEAD' && form.includes('body in')) continue;
      const seen = await compare(method, `/p/${form.length}?a=${method}`, [...lines, 'X-Form: yes'], body);
      expect(seen.proxied).toEqual(seen.direct);
    }
  });

  it.each(statuses)('the answer %s passes with every form of body, to the byte', async (status) => {
    for (const [lines, body] of Object.values(answerBodies)) {
      const isBodiless = /^(204|304)/.test(status);
      const framing = isBodiless ? lines.filter((line) => !/transfer|trailer/i.test(line)) : lines;
      const head = Buffer.from(
        `HTTP/1.1 ${status}\r\n${['X-A: 1', ...framing].join('\r\n')}\r\n\r\n`,
        'latin1',
      );
      const answer = isBodiless ? head : Buffer.concat([head, body]);
      provider.answer((socket) => {
        socket.write(answer);
        if (framing.length === 0) socket.end();
      });
      const seen = await compare('GET', '/answers', [], Buffer.alloc(0));
      expect(seen.proxied).toEqual(seen.direct);
      // Nothing else could tell whether the key still works.
      if (status.startsWith('401')) await connect();
    }
  });

  it('headers keep their order, case, repetition, spaces and bytes, both ways', async () => {
    const lines = [
      'accept: a',
      'ACCEPT: b',
      'Accept: c, d',
      'X-Empty:',
      'X-Tab: a\tb',
      'X-Latin: caf\xe9',
      'X-Utf8: \xe2\x82\xac',
      'x-UPPER-lower: Y',
      `X-Long: ${'l'.repeat(8_000)}`,
      'User-Agent: thing/1',
      'Content-Type: text/weird; q="a b"',
      'If-None-Match: "a", W/"b"',
      'Range: bytes=0-1',
      'Via: 1.1 somebody',
      'Date: Thu, 01 Jan 1970 00:00:00 GMT',
    ];
    const back = [
      'Link: <1>',
      'link: <2>',
      'X-Empty:',
      'ETag: W/"x"',
      'Vary: *',
      'X-Latin: caf\xe9',
      'Access-Control-Allow-Origin: *',
      'WWW-Authenticate: Basic realm="x"',
      'www-authenticate: Bearer',
      `X-Long: ${'l'.repeat(8_000)}`,
      'Server: a',
      'Retry-After: 1',
      'Location: http://other.example/',
      'Content-Disposition: attachment; filename="\xe9"',
    ];
    provider.answer(
      Buffer.from(`HTTP/1.1 200 Fine\r\n${back.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`, 'latin1'),
    );
    const seen = await compare('POST', '/headers', [...lines, 'Content-Length: 3'], Buffer.from('abc'));
    expect(seen.proxied).toEqual(seen.direct);
  });

  it('§4.6 the target keeps its bytes', async () => {
    const targets = [
      '/',
      '/?',
      '//evil.example/x',
      '/\\evil.example/x',
      '/a/../../b',
      '/a/%2e%2e/b',
      '/a/..%2fb',
      '/a/.%2e/b',
      '/a//b',
      '/a;/../b',
      '/%00',
      '/..\\..\\x',
      '/a?x=1&x=2&y=&z',
      "/v1?a[]=1&b='x'|{}^`",
      '/%E2%82%AC?q=%20+%2B',
      '/@evil.example',
      `/${'x'.repeat(8_000)}`,
    ];
    for (const target of targets) {
      const seen = await compare('GET', target, [], Buffer.alloc(0));
      expect(seen.proxied).toEqual(seen.direct);
    }
  });

  it('the headers that the contract removes are removed, and the credential stands in their place', async () => {
    const lines = [
      'Host: provider.example',
      'Authorization: Bearer caller',
      'Cookie: a=b',
      'Api-Key: caller',
      'Forwarded: for=x',
      'X-Forwarded-For: x',
      'X-Svc-Anything: x',
      'Connection: close, X-Hop, api-key',
      'X-Hop: 1',
      'TE: trailers',
      'Keep-Alive: timeout=5',
      'Proxy-Authorization: Basic x',
      'Upgrade: h2c',
      'X-Kept: 1',
    ];
    await rawExchange(platform.proxy, requestOf('GET', '/removed', [...lines, ...ours], Buffer.alloc(0)));
    const names = provider.seen[0]!.headers.filter(([name]) => name.toLowerCase() !== 'connection');
    expect(names).toEqual([
      ['host', new URL(provider.url).host],
      ['X-Kept', '1'],
      ['api-key', 'the-customers-key'],
    ]);
    provider.answer(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nConnection: X-Hop\r\nX-Hop: 1\r\nProxy-Authenticate: x\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n',
    );
    const { message } = await rawExchange(
      platform.proxy,
      requestOf('GET', '/back', ['Host: x', ...ours], Buffer.alloc(0)),
    );
    expect(
      message!.headers
        .map(([name]) => name.toLowerCase())
        .filter((name) => !/^(connection|keep-alive)$/.test(name)),
    ).toEqual(['x-kept', 'content-length', 'x-svc-request-id']);
  });
});
