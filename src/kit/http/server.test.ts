import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patienceWithHeaders } from '../../../test/slow-headers.ts';
import { createLog } from '../log.ts';
import { problem } from '../problem.ts';
import { createHttpServer, type HttpServer } from './server.ts';

interface Body {
  code: string;
  detail: string;
  issues: { in: string; name: string; detail: string; value?: unknown }[];
}

describe('kit/http/server', () => {
  let server: HttpServer;
  let seen: unknown;

  beforeAll(async () => {
    server = createHttpServer({
      log: createLog('silent'),
      bodyLimitBytes: 2000,
      isHttps: true,
      trustedProxies: ['127.0.0.1', '10.0.0.1'],
    });
    const body = Type.Object(
      {
        count: Type.Integer({ minimum: 1 }),
        price: Type.Optional(Type.Number()),
        kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
        batch: Type.Optional(Type.Array(Type.Object({ id: Type.String() }, { additionalProperties: false }))),
        free: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        password: Type.Optional(Type.String({ minLength: 50 })),
      },
      { additionalProperties: false },
    );
    server.route({
      method: 'POST',
      url: '/things',
      schema: { body },
      handler: async (request) => {
        seen = request.body;
        return { free: request.body.free };
      },
    });
    const querystring = Type.Object({ n: Type.Integer({ default: 7 }) });
    server.route({
      method: 'GET',
      url: '/query',
      schema: { querystring },
      handler: async (request) => request.query,
    });
    server.get('/of/:id', async () => ({}));
    server.delete('/of/:id', async () => ({}));
    server.post('/of/:id(^[^:]+)::cancel', async () => ({}));
    server.post('/of::search', async () => ({}));
    server.get('/fault', async () => {
      throw new Error('a secret detail of ours');
    });
    server.get('/away', async () => {
      throw problem('database-unavailable');
    });
    server.get('/caller', (request, reply) => reply.send(request.address));
    await server.ready();
  });
  afterAll(() => server.close());

  test.each([
    ['198.51.100.1:1234', '198.51.100.1'],
    ['198.51.100.1:1234, 10.0.0.1:80', '198.51.100.1'],
    ['unknown1', '127.0.0.1'],
  ])('knows a caller behind proxies that say %s', async (forwardedFor, address) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    expect((await server.inject({ method: 'GET', url: '/caller', headers })).body).toBe(address);
  });

  test('says what is wrong with a path that no route can read', async () => {
    const detailOf = async (url: string) => (await server.inject({ method: 'GET', url })).json<Body>().detail;
    expect(await detailOf('/of/%ff')).toBe('The path is not a valid URL path.');
    expect(await detailOf(`/of/${'a'.repeat(513)}`)).toBe(
      'A segment of the path is longer than 512 characters.',
    );
  });

  test.each([
    ['later', () => Promise.reject(problem('page-not-built')), 503, 'page-not-built'],
    [
      'at once',
      () => {
        throw new Error('a page that throws');
      },
      500,
      'internal',
    ],
  ] as const)(
    'answers a path that no route can read as a problem where its page fails %s',
    async (_when, answer, status, code) => {
      const other = createHttpServer({
        log: createLog('silent'),
        bodyLimitBytes: 1,
        trustedProxies: [],
        unknownPath: { isTaken: () => true, answer },
      });
      const base = await other.listen({ host: '127.0.0.1', port: 0 });
      const signal = AbortSignal.timeout(3_000);
      for (const path of ['/%zz', '/nothing']) {
        const refused = await fetch(`${base}${path}`, { signal });
        expect(refused.status).toBe(status);
        expect(await refused.json()).toMatchObject({ code });
      }
      await other.close();
    },
  );

  test('breaks off a page that fails behind its head, on a path that no route can read', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('unhandledRejection', note);
    const other = createHttpServer({
      log: createLog('silent'),
      bodyLimitBytes: 1,
      trustedProxies: [],
      unknownPath: {
        isTaken: () => true,
        answer: async (_request, reply) => {
          reply.raw.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
          throw new Error('the rest cannot be read');
        },
      },
    });
    const base = await other.listen({ host: '127.0.0.1', port: 0 });
    const signal = AbortSignal.timeout(3_000);
    await expect(fetch(`${base}/%zz`, { signal }).then((answer) => answer.text())).rejects.toThrow(
      'terminated',
    );
    process.off('unhandledRejection', note);
    await other.close();
    expect(uncaught).toEqual([]);
  });

  test(
    'ends a connection within seconds of the time that its headers have',
    { timeout: 40_000 },
    async () => {
      const other = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 1, trustedProxies: [] });
      await other.ready();
      expect(other.server.headersTimeout).toBe(30_000);
      expect(await patienceWithHeaders(other.server, 100)).toBeLessThan(10_000);
      await other.close();
    },
  );

  async function post(
    payload: string,
    contentType = 'application/json',
  ): Promise<{ status: number; body: Body; text: string; type: string }> {
    const answer = await server.inject({
      method: 'POST',
      url: '/things',
      payload,
      headers: { 'content-type': contentType },
    });
    return {
      status: answer.statusCode,
      body: answer.json<Body>(),
      text: answer.body,
      type: String(answer.headers['content-type']),
    };
  }

  test('names every fault by its path at once, with the value unless it may be secret', async () => {
    const { status, body, type } = await post(
      JSON.stringify({
        count: 0,
        kind: 'c',
        batch: [{ id: 'x' }, { id: 1, extra: true }],
        typo: 1,
        password: 'short',
      }),
    );
    expect(status).toBe(400);
    expect(type).toContain('application/problem+json');
    expect(body.code).toBe('invalid-request');
    expect(body.issues.map(({ name }) => name).sort()).toEqual([
      'batch[1].extra',
      'batch[1].id',
      'count',
      'kind',
      'password',
      'typo',
    ]);
    expect(body.issues.find(({ name }) => name === 'kind')).toMatchObject({
      detail: 'must be one of "a", "b"',
      value: 'c',
    });
    expect(body.issues.find(({ name }) => name === 'password')).not.toHaveProperty('value');
  });

  test.each(['', '{', '{"count":1}x', 'null x', '\ufeff{"count":1,}'])(
    'answers 400 to the body %j',
    async (payload) => {
      expect(await post(payload)).toMatchObject({ status: 400, body: { code: 'malformed-json' } });
    },
  );

  test('does not accept __proto__, at any depth', async () => {
    expect(await post('{"count":1,"free":{"a":[{"__proto__":{"x":1}}]}}')).toMatchObject({
      status: 400,
      body: { code: 'malformed-json' },
    });
  });

  test.each([
    ['[]', 'body: must be object; it is an array'],
    [
      JSON.stringify('{"count":1}'),
      'body: must be object; it is a text that holds JSON: encode it once only',
    ],
    ['7', 'body: must be object; it is a number'],
  ])('says of the body %s as a whole what it is', async (payload, detail) => {
    expect(await post(payload)).toMatchObject({ status: 400, body: { detail, issues: [{ name: 'body' }] } });
  });

  test('refuses other content types and bodies over the limit', async () => {
    expect(await post('count=1', 'application/x-www-form-urlencoded')).toMatchObject({
      status: 415,
      body: {
        code: 'unsupported-media-type',
        detail: expect.stringContaining('application/x-www-form-urlencoded') as string,
        remedy: expect.not.stringContaining('yaml') as string,
      },
    });
    expect(await post(JSON.stringify({ count: 1, free: { a: 'x'.repeat(3000) } }))).toMatchObject({
      status: 413,
      body: { code: 'body-too-large' },
    });
  });

  test('does not coerce types in a body, and does in a query', async () => {
    expect(await post('{"count":"1"}')).toMatchObject({ status: 400 });
    expect((await server.inject('/query?n=3')).json()).toEqual({ n: 3 });
    expect((await server.inject('/query')).json()).toEqual({ n: 7 });
    expect((await server.inject('/query?n=x')).statusCode).toBe(400);
  });

  test('keeps numbers as sent where any value may stand, and reads them where the schema wants a number', async () => {
    const { text } = await post('{"count":2,"price":1.50,"free":{"a":9007199254740993,"b":1e400,"c":1.50}}');
    expect(text).toBe('{"free":{"a":9007199254740993,"b":1e400,"c":1.50}}');
    expect(seen).toMatchObject({ count: 2, price: 1.5 });
    expect(await post('{"count":9007199254740993}')).toMatchObject({ status: 400 });
    expect(await post('{"count":1e2}')).toMatchObject({ status: 400 });
  });

  test('says nothing of a fault of ours but the request id', async () => {
    const answer = await server.inject('/fault');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('secret detail');
    expect(answer.json<{ requestId: string }>().requestId).toBe(answer.headers['x-request-id']);
  });

  test('answers 503 with Retry-After when the database is away, and 404 as a problem', async () => {
    const away = await server.inject('/away');
    expect(away.statusCode).toBe(503);
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    expect((await server.inject('/nothing')).json()).toMatchObject({ code: 'route-not-found', status: 404 });
  });

  const unnamed = 'Compare method and path with the API reference at `/docs/api`.';

  test.each([
    ['PUT', '/of/7', 'This path takes DELETE and GET.'],
    ['PUT', '/of/7:cancel?now=1', 'This path takes DELETE and GET and POST.'],
    ['PUT', '/of:search', 'This path takes POST.'],
    ['POST', '/of/7:search', 'There is POST /of:search, not for one alone.'],
    ['PUT', '/of/7/more', unnamed],
    ['PUT', '/off', unnamed],
  ] as const)('of %s %s, which is no route, it says: %s', async (method, url, said) => {
    const { remedy, detail } = (await server.inject({ method, url })).json<Record<string, string>>();
    expect(remedy).toBe(said);
    expect(detail).toBe(`There is no ${method} ${url.split('?')[0]}.`);
  });
});
