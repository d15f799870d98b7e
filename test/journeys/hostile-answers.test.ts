import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  fault,
  install,
  simulator,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { holding, mostDelayMs } from '../loop-delay.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

describe('test/journeys/hostile-answers', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: Customer;
  let salesforce: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    hubspot = await install(platform, 'hubspot-crm', 'acme', {
      write: { objects: { companies: { objectName: 'companies', deletionSettings: { enabled: true } } } },
    });
    salesforce = await install(platform, 'salesforce-crm', 'acme', {
      write: { objects: { Contact: { objectName: 'Contact', deletionSettings: { enabled: true } } } },
    });
  });
  afterEach(async () => {
    await Promise.all(
      [platform.hubspot, platform.salesforce].map((url) => simulator(url, 'DELETE', '/faults')),
    );
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** HubSpot answers the next create of a company so. */
  const answerWith = (status: number, body: string) =>
    fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'status', status, body } });
  const create = (given: Record<string, unknown> = {}) =>
    hubspot.write<ProblemBody & { operationId: string }>(
      'companies',
      { type: 'create', record: { name: `Company ${++count}` }, ...given },
      { headers: { 'idempotency-key': `hostile-${++count}` } },
    );
  const echo = (value: string): string => `{"id":"1","properties":{"name":${value}}}`;
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it.each([
    ['a few kilobytes of it', nested(10_000)],
    ['many megabytes of it', nested(2_000_000)],
  ])('an answer nested too deep leaves the outcome unknown, and its write ends: %s', async (_of, value) => {
    await answerWith(201, echo(value));
    const answer = await create();
    expect(answer).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    expect(answer.body.detail).toContain('nested deeper than');
    expect(await hubspot.settled(answer.body.operationId)).toMatchObject({
      status: 'failure',
      counts: { unknown: 1 },
    });
    const again = await hubspot.write('companies', { type: 'create', record: { name: 'x' } });
    expect(again.status).toBe(200);
  });

  it.each([
    ['many values', `[${'1,'.repeat(3_000_000)}1]`, 'more than 200000 values'],
    ['many numbers that lose digits', `[${'1.10,'.repeat(1_000_000)}1]`, 'more than 200000 values'],
    ['one long text', `"${'x'.repeat(17 * 1024 * 1024)}"`, 'larger than'],
  ])('an answer that would hold the event loop is not read: %s', async (_of, value, why) => {
    await answerWith(201, echo(value));
    const answer = await create();
    expect(answer).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    expect(answer.body.detail).toContain(why);
  });

  it('an echo as large and as deep as a record may be comes back whole', async () => {
    const long = 'y'.repeat(900_000);
    await answerWith(201, `{"id":"7","properties":{"name":"${long}","more":${nested(50)}}}`);
    const answer = await create();
    expect(answer).toMatchObject({ status: 200, body: { result: { recordId: '7', data: { name: long } } } });
  });

  it('large answers to many writes at once do not hold the event loop one right after another', async () => {
    const calls = 40;
    const body = echo(`"${'y'.repeat(1024 * 1024)}"`);
    const { result, held } = await holding(platform, async () => {
      const rule = { method: 'POST', path: '/companies', times: calls };
      await fault(platform.hubspot, { ...rule, fault: { kind: 'status', status: 201, body } });
      const write = () => hubspot.write('companies', { type: 'create', record: { name: 'x' } });
      return Promise.all(Array.from({ length: calls }, write));
    });
    expect(result.map(({ status }) => status)).toEqual(Array(calls).fill(200));
    expect(held).toBeLessThan(mostDelayMs);
  }, 120_000);

  it.each(['constructor', '__proto__', 'toString'])(
    'a category that is a property of every object, %s, is an unknown one',
    async (category) => {
      await answerWith(400, JSON.stringify({ message: 'no' }).replace('{', `{"category":"${category}",`));
      const answer = await create();
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ category: 'validation' }] } });
      const { operationId } = answer.body;
      const found = await platform.call<OperationBody>('GET', `/projects/default/operations/${operationId}`);
      expect(found).toMatchObject({ status: 200, body: { errors: [{ category: 'validation' }] } });
      const list = `/projects/default/integrations/hubspot-crm/installations/${hubspot.installationId}/operations`;
      expect((await platform.call('GET', list)).status).toBe(200);
    },
  );

  it.each(['update', 'delete'])(
    'an HTML page instead of the empty answer to a %s leaves the outcome unknown',
    async (type) => {
      const id = '003000000000001AAA';
      const page = { times: 1, fault: { kind: 'html', status: 200 } };
      const method = type === 'update' ? 'PATCH' : 'DELETE';
      const record = type === 'update' ? { id, LastName: 'Lovelace' } : { id };
      await fault(platform.salesforce, { ...page, method });
      const lost = await salesforce.write<ProblemBody>('Contact', { type, record });
      expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
      if (type === 'update') return;
      await fault(platform.hubspot, { ...page, method });
      const other = await hubspot.write<ProblemBody>('companies', { type, record: { id: '77' } });
      expect(other).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    },
  );

  /** A body in chunks of one byte. */
  const inTinyChunks = (status: number, bytes: number) => ({
    kind: 'chunks',
    status,
    text: '1',
    count: bytes,
  });
  /** A call of HubSpot's companies by way of the proxy; its status, and how many bytes came. */
  async function proxied(): Promise<{ status: number; bytes: number }> {
    const headers = {
      'x-svc-proxy-version': '1',
      'x-svc-project-id': platform.projectId,
      'x-api-key': platform.apiKey,
      'x-svc-installation-id': hubspot.installationId,
    };
    const answer = await rawCall(platform.proxy, { target: '/crm/v3/objects/companies', headers });
    return { status: answer.status, bytes: answer.body.length };
  }

  it('an answer in chunks of one byte does not hold the event loop, and is not read on', async () => {
    const { result, held } = await holding(platform, async () => {
      await fault(platform.hubspot, {
        method: 'POST',
        path: '/companies',
        fault: inTinyChunks(201, 2_000_000),
      });
      return create();
    });
    expect(result).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    expect(result.body.detail).toContain('comes in more than 50000 chunks');
    expect(held).toBeLessThan(mostDelayMs);
  }, 120_000);

  it.each([
    // The second is not held back.
    ['once it was called again', 2, 0],
    ['when there is no new token', 1, 1],
  ])(
    'a 401 in chunks of one byte passes the proxy %s without holding the event loop',
    async (_when, times, failures) => {
      const bytes = 1_000_000;
      const { result, held } = await holding(platform, async () => {
        const rules = { method: 'GET', path: '/companies', times };
        await fault(platform.hubspot, { ...rules, fault: inTinyChunks(401, bytes) });
        if (failures > 0)
          await fault(platform.hubspot, { path: 'token', times: 50, fault: { kind: 'status', status: 500 } });
        const answer = await proxied();
        await simulator(platform.hubspot, 'DELETE', '/faults');
        return answer;
      });
      expect(result).toEqual({ status: 401, bytes });
      expect(held).toBeLessThan(mostDelayMs);
    },
    120_000,
  );
});
