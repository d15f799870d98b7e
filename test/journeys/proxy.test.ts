import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deploy } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall, type RawAnswer, type RawCall } from '../raw-http.ts';
import { startRecorder, type Recorder } from '../recorder.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: raw
    provider: iterable
    proxy: { enabled: true }
`;
const bytes = Buffer.from(Array.from({ length: 1024 }, (_, index) => (index * 7) % 256));

describe('test/journeys/proxy', () => {
  let test: TestDatabase;
  let recorder: Recorder;
  let platform: Platform;
  let ours: Record<string, string>;

  beforeAll(async () => {
    [test, recorder] = await Promise.all([createTestDatabase(), startRecorder()]);
    platform = await startPlatform({ databaseUrl: test.url, origins: { iterable: recorder.url } });
    await deploy(platform, manifest);
    await platform.call('POST', '/projects/default/connections:generate', {
      provider: 'iterable',
      groupRef: 'acme',
      consumerRef: 'ada',
      apiKey: 'the-customers-key',
    });
    const made = await platform.call<{ id: string }>(
      'POST',
      '/projects/default/integrations/raw/installations',
      {
        groupRef: 'acme',
        config: { content: { provider: 'iterable' } },
      },
    );
    ours = {
      'x-svc-proxy-version': '1',
      'x-svc-project-id': platform.projectId,
      'x-api-key': platform.apiKey,
      'x-svc-installation-id': made.body.id,
    };
  });
  beforeEach(() => recorder.reset());
  afterAll(async () => {
    await platform?.stop();
    await recorder?.close();
    await test?.drop();
  });

  const call = ({ headers, ...rest }: RawCall): Promise<RawAnswer> =>
    rawCall(platform.proxy, { ...rest, headers: { ...ours, ...headers } });
  const last = () => recorder.seen.at(-1)!;

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'REPORT'])(
    '§4.6 %s passes with its path, query, body and content type',
    async (method) => {
      const body = method === 'GET' ? undefined : bytes;
      recorder.answer((_request, response) =>
        response
          .writeHead(201, 'Made It', { 'content-type': 'application/x-thing', 'x-one': 'two' })
          .end(bytes),
      );
      const answer = await call({
        method,
        target: '/a/b?c=d',
        headers: { 'content-type': 'application/octet-stream' },
        ...(body ? { body } : {}),
      });
      expect(last()).toMatchObject({ method, target: '/a/b?c=d' });
      expect(last().headers['content-type']).toBe('application/octet-stream');
      expect(last().body).toEqual(body ?? Buffer.alloc(0));
      expect(answer).toMatchObject({
        status: 201,
        statusText: 'Made It',
        headers: { 'content-type': 'application/x-thing', 'x-one': 'two' },
      });
      expect(answer.body).toEqual(bytes);
      expect(answer.headers['x-svc-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.headers['x-svc-problem']).toBeUndefined();
    },
  );

  it('§4.6 the target passes as it was written: escapes, repeated keys, empty values, dots', async () => {
    for (const target of [
      '/a%2Fb/%E2%82%AC?x=1&x=2&y=&z',
      '/a//b/../c/./d?q=%20+%2B',
      "/v1?a[]=1&b='x'|{}",
      '/?',
      '/%00%ff',
    ]) {
      await call({ target });
      expect(last().target).toBe(target);
    }
  });

  it('§4.6 a chunked body, a large one and an empty one arrive byte for byte', async () => {
    await call({
      method: 'POST',
      target: '/chunked',
      headers: { 'transfer-encoding': 'chunked' },
      chunks: [bytes.subarray(0, 3), bytes.subarray(3, 900), bytes.subarray(900)],
    });
    expect(last().body).toEqual(bytes);
    const large = Buffer.alloc(12 * 1024 * 1024, bytes);
    await call({ method: 'PUT', target: '/large', body: large });
    expect(last().headers['content-length']).toBe(String(large.length));
    expect(Buffer.compare(last().body, large)).toBe(0);
    await call({ method: 'POST', target: '/empty', headers: { 'content-length': '0' } });
    expect(last().body).toHaveLength(0);
  });

  it('a compressed answer is passed on as it came', async () => {
    const zipped = gzipSync('{"a":1}');
    recorder.answer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(zipped),
    );
    const answer = await call({ target: '/zip', headers: { 'accept-encoding': 'gzip, br' } });
    expect(last().headers['accept-encoding']).toBe('gzip, br');
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(answer.body).toEqual(zipped);
  });

  it('HEAD, 204 and 304 have no body and keep their headers', async () => {
    recorder.answer((_request, response) =>
      response.writeHead(200, { 'content-length': '1234', etag: '"a"' }).end(),
    );
    expect(await call({ method: 'HEAD', target: '/head' })).toMatchObject({
      status: 200,
      headers: { 'content-length': '1234', etag: '"a"' },
      body: Buffer.alloc(0),
    });
    recorder.answer((_request, response) => response.writeHead(204, { 'x-a': 'b' }).end());
    expect(await call({ method: 'DELETE', target: '/none' })).toMatchObject({
      status: 204,
      headers: { 'x-a': 'b' },
      body: Buffer.alloc(0),
    });
    recorder.answer((_request, response) => response.writeHead(304, { etag: '"a"' }).end());
    expect(await call({ target: '/same', headers: { 'if-none-match': '"a"' } })).toMatchObject({
      status: 304,
      headers: { etag: '"a"' },
    });
    expect(last().headers['if-none-match']).toBe('"a"');
  });

  it('§5 the credential is attached; ours, the caller’s and hop-by-hop headers are removed', async () => {
    await call({
      target: '/headers',
      headers: {
        Authorization: 'Bearer the-callers',
        Cookie: 'a=b',
        'Api-Key': 'the-callers',
        Forwarded: 'for=1.2.3.4',
        'X-Forwarded-For': '1.2.3.4',
        'X-Svc-Anything': 'x',
        Connection: 'close, X-Hop',
        'X-Hop': '1',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic x',
        'X-Kept': 'Yes',
        'User-Agent': 'a-client/1',
      },
    });
    const { headers, rawHeaders } = last();
    expect(headers).toMatchObject({
      'api-key': 'the-customers-key',
      'x-kept': 'Yes',
      'user-agent': 'a-client/1',
      host: new URL(recorder.url).host,
    });
    const names = Object.keys(headers);
    for (const gone of [
      'authorization',
      'cookie',
      'forwarded',
      'x-forwarded-for',
      'x-hop',
      'te',
      'proxy-authorization',
      'x-api-key',
    ])
      expect(names).not.toContain(gone);
    expect(names.filter((name) => name.startsWith('x-svc-'))).toEqual([]);
    expect(rawHeaders).toContain('X-Kept');
    expect(rawHeaders.join(' ')).not.toContain(platform.apiKey);
    expect(rawHeaders.join(' ')).not.toContain('the-callers');
  });

  it('Set-Cookie is dropped on the way back, repeated headers are not merged', async () => {
    recorder.answer((_request, response) =>
      response
        .writeHead(200, {
          'set-cookie': ['a=b', 'c=d'],
          link: ['<1>', '<2>'],
          connection: 'x-gone',
          'x-gone': '1',
        })
        .end('x'),
    );
    const answer = await call({ target: '/cookies' });
    expect(answer.rawHeaders.map((name) => name.toLowerCase())).not.toContain('set-cookie');
    expect(answer.headers['x-gone']).toBeUndefined();
    expect(answer.rawHeaders.filter((name) => name.toLowerCase() === 'link')).toHaveLength(2);
  });

  it('a redirect is passed on and not followed', async () => {
    recorder.answer((_request, response) =>
      response.writeHead(302, { location: 'http://elsewhere.example/' }).end(),
    );
    expect(await call({ target: '/moved' })).toMatchObject({
      status: 302,
      headers: { location: 'http://elsewhere.example/' },
    });
    expect(recorder.seen).toHaveLength(1);
  });

  it('errors of the provider pass as they are: its HTML, its 429, its 500', async () => {
    for (const [status, type, body] of [
      [503, 'text/html', '<h1>down</h1>'],
      [429, 'application/json', '{"wait":1}'],
      [500, 'text/plain', ''],
      [404, 'application/xml', '<no/>'],
    ] as const) {
      recorder.answer((_request, response) =>
        response.writeHead(status, { 'content-type': type, 'retry-after': '7' }).end(body),
      );
      const answer = await call({ target: '/fail' });
      expect(answer).toMatchObject({ status, headers: { 'content-type': type, 'retry-after': '7' } });
      expect(answer.body.toString()).toBe(body);
      expect(answer.headers['x-svc-problem']).toBeUndefined();
    }
    expect(recorder.seen).toHaveLength(4);
  });

  it('an answer streams: its first part arrives before its last is sent', async () => {
    let finish = (): void => undefined;
    recorder.answer((_request, response) => {
      response.writeHead(200).write('first');
      finish = () => response.end('last');
    });
    const answer = await fetch(`${platform.proxy}/stream`, { headers: ours });
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value ?? '').toString()).toBe('first');
    finish();
    expect(Buffer.from((await reader.read()).value ?? '').toString()).toBe('last');
  });

  it('an answer that is cut short is cut short for the caller, too', async () => {
    recorder.answer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(call({ target: '/cut' })).rejects.toThrow(/aborted|hang up/);
  });

  it('a provider that breaks off or cannot be reached is a 502 of ours, which says so', async () => {
    recorder.answer((_request, response) => response.socket?.destroy());
    const broken = await call({ target: '/broken' });
    expect(broken).toMatchObject({
      status: 502,
      headers: {
        'x-svc-problem': 'provider-unreachable',
        'content-type': expect.stringMatching(/problem\+json/),
      },
    });
    expect(JSON.parse(broken.body.toString())).toMatchObject({
      code: 'provider-unreachable',
      status: 502,
      retryable: true,
    });
    expect(recorder.seen).toHaveLength(1);
  });

  it('a call that upgrades the connection is refused', async () => {
    const answer = await call({
      target: '/socket',
      headers: { Connection: 'Upgrade', Upgrade: 'websocket' },
    });
    expect(answer.status).toBe(501);
    expect(recorder.seen).toEqual([]);
  });

  it('nothing of a proxied call is kept: no operation, no record', async () => {
    await call({ method: 'POST', target: '/x', body: 'secret-body' });
    const rows = await test.database.raw('SELECT count(*)::int AS n FROM operation');
    expect(rows).toEqual([{ n: 0 }]);
    expect(platform.said()).not.toContain('secret-body');
  });
});
