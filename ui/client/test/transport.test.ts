import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Svc, SvcError, type ConnectOptions, type Sent } from '../src/index.ts';
import { half, json, lost, problem, silent, startAnswers, written, type Answers } from './answers.fixture.ts';

const create = {
  integration: 'hubspot-crm',
  object: 'contacts',
  groupRef: 'acme',
  type: 'create',
  record: { email: 'ada@example.com' },
} as const;
const retryable = { retryable: true };
const now = { 'retry-after': '0' };

describe('ui/client/transport', () => {
  let server: Answers;
  afterEach(() => server.close());

  async function svcFor(
    answers: Parameters<typeof startAnswers>,
    options: Partial<ConnectOptions> = {},
  ): Promise<Svc> {
    server = await startAnswers(...answers);
    return new Svc({ baseUrl: server.url, project: 'default', apiKey: 'svc_k', ...options });
  }
  const keys = () => server.got.map(({ headers }) => headers['idempotency-key']);
  /** Of each request whether it asks to be written again in place of what failed. */
  const anew = () => server.got.map(({ headers }) => headers['retry-failed'] === 'true');
  const kept = problem(
    429,
    'provider-rate-limited',
    { ...retryable, operationId: 'o-1' },
    { 'retry-after': '30', 'idempotent-replayed': 'true' },
  );
  const failureOf = (call: Promise<unknown>): Promise<SvcError> =>
    call.then(
      () => Promise.reject(new Error('it succeeded')),
      (error: unknown) => {
        expect(error).toBeInstanceOf(SvcError);
        return error as SvcError;
      },
    );

  it('a write carries the key of the API and an idempotency key of its own', async () => {
    const svc = await svcFor([written]);
    expect((await svc.write(create)).result.recordId).toBe('512');
    await svc.write(create);
    expect(server.got[0]).toMatchObject({
      method: 'POST',
      path: '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      headers: { 'x-api-key': 'svc_k' },
    });
    expect(JSON.parse(server.got[0]!.body)).toEqual({
      groupRef: 'acme',
      type: 'create',
      record: { email: 'ada@example.com' },
    });
    expect(new Set(keys()).size).toBe(2);
  });

  it('what the answer calls retryable is sent again, byte for byte and under the same key', async () => {
    const svc = await svcFor([problem(503, 'database-unavailable', retryable, now), written]);
    await svc.write(create, { idempotencyKey: 'order-1' });
    expect(keys()).toEqual(['order-1', 'order-1']);
    expect(server.got[1]?.body).toBe(server.got[0]?.body);
  });

  it('what it does not call so is thrown at once', async () => {
    const svc = await svcFor([
      problem(502, 'outcome-unknown', { operationId: 'o-7', category: 'unknownOutcome' }),
    ]);
    const error = await failureOf(svc.write(create));
    expect(error).toMatchObject({
      code: 'outcome-unknown',
      status: 502,
      operationId: 'o-7',
      category: 'unknownOutcome',
    });
    expect(error.message).toBe('It did not work. Do something else. (outcome-unknown, request r-1)');
    expect(server.got).toHaveLength(1);
  });

  it('a key that stands for a failed operation stays, and what is written again says so', async () => {
    const throttled = problem(429, 'provider-rate-limited', { ...retryable, operationId: 'o-1' }, now);
    const svc = await svcFor([throttled, throttled, written, throttled, written]);
    await svc.write(create, { idempotencyKey: 'order-1' });
    await svc.write(create, { idempotencyKey: 'order-1' });
    expect(new Set(keys())).toEqual(new Set(['order-1']));
    expect(anew()).toEqual([false, true, true, false, true]);
  });

  it('what is kept of an earlier call is passed without a pause, and is none of the attempts', async () => {
    const svc = await svcFor([kept, written], { retries: 0 });
    await svc.write(create, { idempotencyKey: 'order-1' });
    expect(anew()).toEqual([false, true]);
  });

  it('ends where a server of an earlier release answers with what it keeps', async () => {
    const svc = await svcFor([kept, kept, written]);
    expect(await failureOf(svc.write(create, { idempotencyKey: 'order-1' }))).toMatchObject({
      replayed: true,
    });
    expect(anew()).toEqual([false, true]);
  });

  it('a write that has failed is written again where that is asked for', async () => {
    const failed = problem(
      422,
      'provider-refused',
      { operationId: 'o-1' },
      { 'idempotent-replayed': 'true' },
    );
    const svc = await svcFor([failed, written]);
    expect(await failureOf(svc.write(create, { idempotencyKey: 'order-1' }))).toMatchObject({
      replayed: true,
    });
    await svc.write(create, { idempotencyKey: 'order-1', retryFailed: true });
    expect(keys()).toEqual(['order-1', 'order-1']);
    expect(anew()).toEqual([false, true]);
  });

  it('says which part of a path is missing, where no types do', async () => {
    const svc = await svcFor([written]);
    const call = svc.operations
      .list({} as never)
      .pages()
      .next();
    await expect(call).rejects.toThrow('needs integrationId, installationId');
    expect(server.got).toHaveLength(0);
  });

  it('a key whose first request is still in flight stays', async () => {
    const svc = await svcFor([
      problem(409, 'idempotency-key-in-flight', { ...retryable, operationId: 'o-1' }, now),
      written,
    ]);
    await svc.write(create, { idempotencyKey: 'order-1' });
    expect(keys()).toEqual(['order-1', 'order-1']);
  });

  it.each([
    ['the connection', lost],
    ['the second half of the answer', half],
  ])('a write is sent again under the same key when %s is lost', async (_what, loss) => {
    const svc = await svcFor([loss, written]);
    await svc.write(create);
    expect(new Set(keys()).size).toBe(1);
    expect(server.got).toHaveLength(2);
  });

  it('what neither reads nor has a key is not sent again when its answer is lost', async () => {
    const svc = await svcFor([lost, json(201, {})]);
    const started = svc.reads.start({ integration: 'i', object: 'contacts', groupRef: 'acme' });
    expect(await failureOf(started)).toMatchObject({ code: 'unreachable', status: 0 });
    expect(server.got).toHaveLength(1);
  });

  it('Retry-After is waited for', async () => {
    const svc = await svcFor([
      problem(429, 'provider-rate-limited', retryable, { 'retry-after': '1' }),
      written,
    ]);
    await svc.write(create);
    expect(server.got[1]!.at - server.got[0]!.at).toBeGreaterThanOrEqual(990);
  });

  it('what asks for a longer pause than there is time for is thrown at once', async () => {
    const retryAfter = '2030-01-01T00:00:00.000Z';
    const throttled = problem(
      429,
      'provider-rate-limited',
      { ...retryable, retryAfter },
      { 'retry-after': '61' },
    );
    const svc = await svcFor([throttled]);
    expect((await failureOf(svc.write(create))).retryAfter).toEqual(new Date(retryAfter));
    expect(server.got).toHaveLength(1);
  });

  it('ends after as many attempts as it was given', async () => {
    const away = problem(503, 'database-unavailable', retryable, now);
    await failureOf((await svcFor([away], { retries: 2 })).write(create));
    expect(server.got).toHaveLength(3);
    await server.close();
    await failureOf((await svcFor([away], { retries: 0 })).write(create));
    expect(server.got).toHaveLength(1);
  });

  it('a server that says nothing is given up after the time of an attempt', async () => {
    const svc = await svcFor([silent], { timeoutMs: 50, retries: 1 });
    expect(await failureOf(svc.operations.get('o-1'))).toMatchObject({ code: 'unreachable' });
    expect(server.got).toHaveLength(2);
  });

  it.each([
    ['an attempt', silent],
    ['the pause before the next', problem(503, 'overloaded', retryable, { 'retry-after': '30' })],
  ])('a signal ends %s, with its reason', async (_what, answer) => {
    const svc = await svcFor([answer]);
    const signal = AbortSignal.timeout(150);
    const reason: unknown = await svc.write(create, { signal }).catch((error: unknown) => error);
    expect(reason).toBe(signal.reason);
    expect(signal.aborted).toBe(true);
    expect(server.got).toHaveLength(1);
  });

  it('a write that a signal ended tells its key, also beside others of the signal', async () => {
    const svc = await svcFor([silent]);
    const signal = AbortSignal.timeout(150);
    const ended = await Promise.all(
      [{ signal }, { signal }, { signal, idempotencyKey: 'order-1' }].map((options) =>
        svc.write(create, options).catch((error: unknown) => error as Error & { idempotencyKey: string }),
      ),
    );
    const names = ended.map((error) => (error as Error).name);
    expect(names).toEqual(['TimeoutError', 'TimeoutError', 'TimeoutError']);
    const told = ended.map((error) => (error as { idempotencyKey?: string }).idempotencyKey);
    const sent = server.got.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(told)).toEqual(new Set(sent));
    expect(new Set(told).size).toBe(3);
    expect(told[2]).toBe('order-1');
  });

  it('a signal ends what would not be sent again, with its reason', async () => {
    const svc = await svcFor([silent]);
    const signal = AbortSignal.timeout(100);
    const started = svc.reads.start({ integration: 'i', object: 'contacts', groupRef: 'acme' }, { signal });
    const reason: unknown = await started.catch((error: unknown) => error);
    expect(reason).toBe(signal.reason);
  });

  it('a signal that many calls share gets no listener of each', async () => {
    const svc = await svcFor([written]);
    const { signal } = new AbortController();
    const listened = vi.spyOn(signal, 'addEventListener');
    for (let n = 0; n < 3; n += 1) await svc.write(create, { signal });
    expect(listened).not.toHaveBeenCalled();
    expect(server.got).toHaveLength(3);
  });

  it('what stands in for fetch is asked again by the same rules', async () => {
    const calls: Sent[] = [];
    const svc = await svcFor([problem(503, 'database-unavailable', retryable, now), written], {
      fetch: (url, sent) => {
        calls.push(sent);
        return fetch(url, sent);
      },
    });
    await svc.write(create, { idempotencyKey: 'order-1' });
    expect(calls.map(({ method, headers }) => [method, headers.get('idempotency-key')])).toEqual([
      ['POST', 'order-1'],
      ['POST', 'order-1'],
    ]);
    expect(server.got[1]?.body).toBe(server.got[0]?.body);
    expect(JSON.parse(server.got[1]!.body)).toMatchObject({ type: 'create' });
  });

  it('what is no answer of svc is called so, and not sent again', async () => {
    const page =
      (status: number, headers = {}) =>
      (response: ServerResponse) => {
        response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<p>Bad gateway</p>');
      };
    const svc = await svcFor([page(404), page(200), page(308, { location: 'http://127.0.0.1:1/' })]);
    for (const status of [404, 200, 308])
      expect(await failureOf(svc.write(create))).toMatchObject({ code: 'unexpected-answer', status });
    expect(server.got).toHaveLength(3);
  });

  it.each([
    ['record.age', { record: { age: Number('46,9') } }],
    ['record.at.until', { record: { at: { until: new Date('x') } } }],
    ['record.scores[1]', { record: { scores: [1, Infinity] } }],
  ])(
    'what JSON would make null of is refused at its path before anything is sent: %s',
    async (path, { record }) => {
      const svc = await svcFor([written]);
      await expect(svc.write({ ...create, record } as never)).rejects.toThrow(
        new RegExp(`^${path.replaceAll(/[.[\]]/g, String.raw`\$&`)} is .*JSON cannot hold`),
      );
      await expect(svc.writeBatch({ ...create, batch: [{ record }] } as never)).rejects.toThrow(
        /^batch\[0\]\.record/,
      );
      expect(server.got).toEqual([]);
    },
  );

  it('a success whose body was dropped on the way is a lost answer', async () => {
    const emptied = (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 0 }).end();
    };
    const again = await svcFor([emptied, written, emptied, emptied]);
    await again.write(create, { idempotencyKey: 'order-1' });
    expect(keys()).toEqual(['order-1', 'order-1']);
    const never = new Svc({ baseUrl: server.url, project: 'default', apiKey: 'svc_k', retries: 0 });
    for (const call of [never.write(create), never.operations.get('o-1')])
      expect(await failureOf(call)).toMatchObject({ code: 'unexpected-answer', status: 200 });
  });

  it.each([500, 502, 503, 504, 429])(
    'what a proxy in front answers with %i is a lost answer',
    async (status) => {
      const page = (response: ServerResponse) => {
        response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '0' }).end('<p>Away</p>');
      };
      const again = await svcFor([page, page, written, page, page]);
      await again.write(create, { idempotencyKey: 'order-1' });
      expect(keys()).toEqual(['order-1', 'order-1', 'order-1']);
      const never = new Svc({ baseUrl: server.url, project: 'default', apiKey: 'svc_k', retries: 0 });
      expect(await failureOf(never.write(create, { idempotencyKey: 'order-2' }))).toMatchObject({
        code: 'unexpected-answer',
        status,
        retryable: false,
        idempotencyKey: 'order-2',
      });
      expect(await failureOf(never.operations.get('o-1'))).toMatchObject({ status, retryable: true });
    },
  );

  it('a refusal by the provider is thrown with all that it said', async () => {
    const failure = {
      message: 'error writing contacts: conflict: there',
      category: 'conflict',
      retryable: false,
    };
    const provider = { status: 409, code: 'CONFLICT', message: 'there' };
    const svc = await svcFor([
      json(
        422,
        { operationId: 'o-1', errors: [{ ...failure, provider }], result: { success: false } },
        { 'x-request-id': 'r-7' },
      ),
    ]);
    expect(await failureOf(svc.write(create))).toMatchObject({
      code: 'provider-refused',
      requestId: 'r-7',
      category: 'conflict',
      operationId: 'o-1',
      provider,
      errors: [{ ...failure, provider }],
    });
  });

  it('a batch of which nothing was done is an answer, and a problem of a batch is thrown', async () => {
    const none = {
      operationId: 'o-1',
      successCount: 0,
      failureCount: 1,
      results: [{ success: false }],
      errors: [],
    };
    const svc = await svcFor([json(422, none), problem(404, 'not-found')]);
    const { record, ...to } = create;
    const request = { ...to, batch: [{ record }] };
    expect(await svc.writeBatch(request)).toEqual(none);
    expect(await failureOf(svc.writeBatch(request))).toMatchObject({ code: 'not-found' });
  });

  it('a list asks for a page when it is needed', async () => {
    const page = (ids: string[], nextPageToken?: string) =>
      json(200, {
        results: ids.map((id) => ({ id })),
        pagination: { done: nextPageToken === undefined, ...(nextPageToken ? { nextPageToken } : {}) },
      });
    const svc = await svcFor([page(['1', '2'], 'next'), page(['3'])]);
    const seen: string[] = [];
    for await (const { id } of svc.connections.list({ provider: 'hubspot', pageSize: 2 })) {
      seen.push(`${id} after ${server.got.length}`);
    }
    expect(seen).toEqual(['1 after 1', '2 after 1', '3 after 2']);
    expect(server.got.map(({ path }) => path)).toEqual([
      '/v1/projects/default/connections?provider=hubspot&pageSize=2',
      '/v1/projects/default/connections?provider=hubspot&pageSize=2&pageToken=next',
    ]);
  });

  it('a front-end token is asked for with each call', async () => {
    let asked = 0;
    const token = () => `t-${(asked += 1)}`;
    server = await startAnswers(json(200, { id: 'o-1' }));
    const svc = new Svc({ baseUrl: server.url, project: 'default', token });
    await svc.operations.get('o-1');
    await svc.operations.get('o-1');
    expect(server.got.map(({ headers }) => headers.authorization)).toEqual(['Bearer t-1', 'Bearer t-2']);
  });

  it('options that cannot work are refused at once, by name', async () => {
    server = await startAnswers(written);
    expect(() => new Svc({ baseUrl: 'svc.example.com:x', project: 'p', apiKey: 'k' })).toThrow('`baseUrl`');
    expect(() => new Svc({ baseUrl: server.url, project: 'p' })).toThrow('`apiKey` or `token`');
  });
});
