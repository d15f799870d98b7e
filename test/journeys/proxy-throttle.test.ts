import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kit/ids.ts';
import {
  connect,
  deploy,
  during,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall, type RawAnswer } from '../raw-http.ts';

const target = '/crm/v3/objects/contacts?limit=1';
const limits = {
  secondly: { status: 429, body: { errorType: 'RATE_LIMIT', policyName: 'SECONDLY' } },
  tenSecondly: { status: 429, body: { errorType: 'RATE_LIMIT', policyName: 'TEN_SECONDLY_ROLLING' } },
  daily: { status: 429, body: { errorType: 'RATE_LIMIT', policyName: 'DAILY' } },
};
const form = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d UTC$/;

describe('test/journeys/proxy-throttle', () => {
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  let groups = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url });
    await deploy(first);
    second = await startPlatform({ databaseUrl: test.url, beside: first });
  });
  afterEach(async () => {
    await simulator(first.hubspot, 'DELETE', '/faults');
    await simulator(first.salesforce, 'DELETE', '/faults');
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await test?.drop();
  });

  const customer = (integration: 'hubspot-crm' | 'salesforce-crm' = 'hubspot-crm'): Promise<Customer> =>
    install(first, integration, `group-${++groups}`);
  const headersOf = ({ installationId }: Customer): Record<string, string> => ({
    'x-svc-proxy-version': '1',
    'x-svc-project-id': first.projectId,
    'x-api-key': first.apiKey,
    'x-svc-installation-id': installationId,
  });
  const call = (
    acme: Customer,
    {
      node = first,
      mode = 'throttle',
      path = target,
    }: { node?: Platform; mode?: string | null; path?: string } = {},
  ): Promise<RawAnswer> =>
    rawCall(node.proxy, {
      target: path,
      headers: { ...headersOf(acme), ...(mode === null ? {} : { 'X-Svc-Rate-Limiter-Mode': mode }) },
    });
  const refuseOnce = (
    limit: { status: number; body: unknown; headers?: Record<string, string> },
    url = first.hubspot,
    path = '/crm',
  ) => fault(url, { path, times: 1, fault: { kind: 'status', ...limit } });
  const told = (answer: RawAnswer) => [
    answer.headers['x-svc-retry-after'],
    answer.headers['x-svc-retryable'],
  ];

  it('§7.5 the provider’s 429 carries the retry time; until then further calls get our 429 with the same, unsent', async () => {
    const acme = await customer();
    await refuseOnce(limits.tenSecondly);
    const refused = await call(acme);
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.body.toString())).toEqual(limits.tenSecondly.body);
    expect(refused.headers['x-svc-problem']).toBeUndefined();
    expect(refused.headers['x-svc-retry-after']).toMatch(form);
    expect(refused.headers['x-svc-retryable']).toBe('true');
    const waitMs = Date.parse(refused.headers['x-svc-retry-after'] ?? '') - Date.now();
    expect(waitMs).toBeGreaterThan(8_500);
    expect(waitMs).toBeLessThan(11_500);

    const { result, requests } = await during(first.hubspot, () =>
      Promise.all(Array.from({ length: 5 }, () => call(acme))),
    );
    expect(requests).toEqual([]);
    for (const answer of result) {
      expect(answer).toMatchObject({ status: 429, headers: { 'x-svc-problem': 'provider-rate-limited' } });
      expect(told(answer)).toEqual(told(refused));
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(7);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        code: 'provider-rate-limited',
        retryable: true,
      });
    }
  });

  it('contract: every node refuses within 100 ms after the answer', async () => {
    const acme = await customer();
    expect((await call(acme, { node: second })).status).toBe(200);
    await refuseOnce(limits.tenSecondly);
    const refused = await call(acme);
    const { requests, result } = await during(first.hubspot, async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return call(acme, { node: second });
    });
    expect(result).toMatchObject({ status: 429, headers: { 'x-svc-problem': 'provider-rate-limited' } });
    expect(told(result)).toEqual(told(refused));
    expect(requests).toEqual([]);
  });

  it('contract: without the mode the provider is always called, and nothing is added', async () => {
    const acme = await customer();
    await refuseOnce(limits.tenSecondly);
    const plain = await call(acme, { mode: null });
    expect(plain.status).toBe(429);
    expect(told(plain)).toEqual([undefined, undefined]);
    expect((await call(acme)).headers['x-svc-problem']).toBe('provider-rate-limited');
    expect((await call(acme, { mode: null })).status).toBe(200);
  });

  it('§7.5 after the retry time the provider is asked again', async () => {
    const acme = await customer();
    await refuseOnce(limits.secondly);
    const until = Date.parse((await call(acme)).headers['x-svc-retry-after'] ?? '');
    expect((await call(acme)).headers['x-svc-problem']).toBe('provider-rate-limited');
    await new Promise((resolve) => setTimeout(resolve, until - Date.now() + 60));
    expect((await call(acme)).status).toBe(200);
  });

  it('§7.5 a token that is locked out for the day is not retryable', async () => {
    const acme = await customer();
    await refuseOnce(limits.daily);
    const refused = await call(acme);
    expect(refused.headers['x-svc-retryable']).toBe('false');
    expect(told(await call(acme))).toEqual(told(refused));
  });

  it('contract: Salesforce says it with 403, whose status and bytes stay; another 403 is none', async () => {
    const acme = await customer('salesforce-crm');
    const path = '/services/data/v60.0/limits';
    const refuse = (errorCode: string, message: string) =>
      refuseOnce({ status: 403, body: [{ message, errorCode }] }, first.salesforce, path);
    await refuse('INSUFFICIENT_ACCESS', 'no');
    const other = await call(acme, { path });
    expect(other.status).toBe(403);
    expect(told(other)).toEqual([undefined, undefined]);
    await refuse('REQUEST_LIMIT_EXCEEDED', 'ConcurrentRequests (Concurrent API Requests) Limit exceeded.');
    const refused = await call(acme, { path });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body.toString())).toEqual([
      {
        message: 'ConcurrentRequests (Concurrent API Requests) Limit exceeded.',
        errorCode: 'REQUEST_LIMIT_EXCEEDED',
      },
    ]);
    expect(told(refused)).toEqual([expect.stringMatching(form), 'true']);
    const ours = await call(acme, { path });
    expect(ours).toMatchObject({ status: 429, headers: { 'x-svc-problem': 'provider-rate-limited' } });
    expect(told(ours)).toEqual(told(refused));
  });

  it('§4.6 another value of the header is refused', async () => {
    const acme = await customer();
    const { result, requests } = await during(first.hubspot, () => call(acme, { mode: 'sometimes' }));
    expect(result).toMatchObject({ status: 400, headers: { 'x-svc-problem': 'proxy-request-invalid' } });
    expect(result.body.toString()).toContain('x-svc-rate-limiter-mode');
    expect(requests).toEqual([]);
  });

  it('one group’s limit is not another’s, and the quota is in the answer', async () => {
    const [acme, other] = [await customer(), await customer()];
    await refuseOnce(limits.tenSecondly);
    await call(acme);
    const answer = await call(other);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-svc-ratelimit-limit']).toBe(answer.headers['x-hubspot-ratelimit-max']);
    expect(answer.headers['x-svc-ratelimit-remaining']).toBe(answer.headers['x-hubspot-ratelimit-remaining']);
    expect(answer.headers['x-svc-ratelimit-limit']).toMatch(/^\d+$/);
  });

  it('budget: what one call was told holds for the writes of the connection, on every node', async () => {
    const acme = await customer();
    await refuseOnce(limits.tenSecondly);
    expect((await call(acme, { mode: null })).status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const body = { groupRef: acme.groupRef, type: 'create', record: { email: `b${groups}@example.com` } };
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    const { requests } = await during(first.hubspot, async () => {
      for (const node of [first, second]) {
        const refused = await node.call<ProblemBody & { retryAfter: number }>('POST', path, body);
        expect(refused.status).toBe(429);
        expect(refused.body).toMatchObject({ code: 'provider-rate-limited', retryable: true });
        expect(refused.body.operationId).toBeUndefined();
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5);
      }
      const taken = await first.call<{ operationId: string }>('POST', path, {
        ...body,
        mode: 'asynchronous',
      });
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const waiting = await acme.operation(taken.body.operationId);
      expect(waiting.status).toBe('in_progress');
      expect(waiting.metadata?.retry?.attempts ?? 0).toBe(0);
    });
    expect(requests).toEqual([]);
  });

  it('budget: a write that meets the limit stops the others of its connection until the window opens', async () => {
    const acme = await customer();
    const writes = await Promise.all(
      [1, 2, 3].map(async (n) => {
        if (n === 1) await refuseOnce(limits.secondly, first.hubspot, '/contacts');
        if (n > 1) await new Promise((resolve) => setTimeout(resolve, 300));
        const record = { email: `w${groups}-${n}@example.com` };
        return acme.write('contacts', { type: 'create', mode: 'asynchronous', record });
      }),
    );
    const done: OperationBody[] = [];
    for (const { body } of writes) done.push(await acme.settled(body.operationId));
    expect(done.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(done.map(({ metadata }) => metadata?.retry?.attempts)).toEqual([2, 1, 1]);
    const sent = (await requestsOf(first.hubspot)).filter(({ body }) => body.includes(`w${groups}-`));
    expect(sent.map(({ status }) => status)).toEqual([429, 201, 201, 201]);
  });

  const refusedUntil2099 = () =>
    refuseOnce({
      ...limits.tenSecondly,
      headers: { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' },
    });
  const create = () => ({ type: 'create', record: { email: `c${groups}-${newId()}@example.com` } });

  it('budget: a provider is believed for a day, and every answer tells the same end', async () => {
    const acme = await customer();
    await refusedUntil2099();
    const ends = [];
    for (const _ of ['met', 'known']) {
      const { status, body, headers } = await acme.write<{ retryAfter: string }>('contacts', create());
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(86_401);
      ends.push(Date.parse(body.retryAfter));
    }
    expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBeLessThan(3_000);
  });

  it('budget: connecting again opens the window of that connection alone, on every node, for what waits, too', async () => {
    const [acme, other] = [await customer(), await customer()];
    for (const one of [acme, other]) {
      await refusedUntil2099();
      expect((await one.write('contacts', create())).status).toBe(429);
    }
    const waiting = await acme.write('contacts', { ...create(), mode: 'asynchronous' });
    await expect.poll(async () => (await call(acme, { node: second })).status).toBe(429);
    expect(await connect(first, 'hubspot', acme.groupRef)).toBe(acme.connectionId);
    expect(await acme.settled(waiting.body.operationId)).toMatchObject({ status: 'success' });
    for (const works of [
      async () => (await acme.write('contacts', create())).status,
      async () => (await call(acme, { node: second })).status,
    ])
      await expect.poll(works, { timeout: 5_000 }).toBe(200);
    expect((await other.write('contacts', create())).status).toBe(429);
  });

  it('budget: a limit of which a call tells that began before the customer connected again is none of theirs', async () => {
    const acme = await customer();
    for (const begin of [() => call(acme), () => acme.write('contacts', create())]) {
      await refusedUntil2099();
      await simulator(first.hubspot, 'POST', '/settings', { latencyMs: 1_500 });
      const { seq } = (await requestsOf(first.hubspot)).at(-1) ?? { seq: 0 };
      const underWay = begin();
      await expect.poll(async () => (await requestsOf(first.hubspot, seq)).length).toBeGreaterThan(0);
      await simulator(first.hubspot, 'POST', '/settings', { latencyMs: 0 });
      expect(await connect(first, 'hubspot', acme.groupRef)).toBe(acme.connectionId);
      expect((await underWay).status).toBe(429);
      for (const works of [
        async () => (await acme.write('contacts', create())).status,
        async () => (await call(acme, { node: second })).status,
      ])
        await expect.poll(works, { timeout: 3_000 }).toBe(200);
    }
  });

  it('budget: nor is one of which a call tells that carried the credentials before, whenever it was sent', async () => {
    const acme = await customer();
    expect((await call(acme, { node: second })).status).toBe(200);
    const { hostname, port } = new URL(second.proxy);
    const slow = request({
      hostname,
      port,
      method: 'POST',
      path: '/crm/v3/objects/contacts',
      agent: false,
      headers: { ...headersOf(acme), 'content-type': 'application/json', 'content-length': '2' },
    });
    const answered = once(slow, 'response');
    slow.write('{');
    // The call has its credential and waits for the rest of its body.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await connect(first, 'hubspot', acme.groupRef)).toBe(acme.connectionId);
    await refusedUntil2099();
    slow.end('}');
    const [answer] = (await answered) as [IncomingMessage];
    expect(answer.resume().statusCode).toBe(429);
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    for (const node of [first, second])
      for (const works of [
        async () => (await node.call('POST', path, { groupRef: acme.groupRef, ...create() })).status,
        async () => (await call(acme, { node })).status,
      ])
        await expect.poll(works, { timeout: 3_000 }).toBe(200);
  });

  it('budget: a read goes on at once when the customer connected again, on a node that was not told', async () => {
    const acme = await customer();
    const content = {
      provider: 'hubspot',
      read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
    };
    const preview = async () => {
      const path = '/projects/default/integrations/hubspot-crm/objects/contacts/read-preview';
      const { status, text } = await second.call('POST', path, {
        groupRef: acme.groupRef,
        config: { content },
      });
      return { status, text };
    };
    await refusedUntil2099();
    expect((await call(acme, { node: second })).status).toBe(429);
    expect(await preview()).toMatchObject({ status: 429 });
    await connect(first, 'hubspot', acme.groupRef);
    expect(await preview()).toMatchObject({ status: 200 });
  });
});
