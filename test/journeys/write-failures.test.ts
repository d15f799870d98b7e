import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  effects,
  fault,
  install,
  simulator,
  type Customer,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const secondly = {
  status: 'error',
  message: 'You have reached your secondly limit.',
  errorType: 'RATE_LIMIT',
};
const daily = {
  status: 'error',
  message: 'You have reached your daily limit.',
  errorType: 'RATE_LIMIT',
  policyName: 'DAILY',
};

describe('test/journeys/write-failures', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: Customer;
  let salesforce: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_PROVIDER_CALL_MS: '1500' } });
    await deploy(platform);
  });
  // A provider's limit closes the connection for a while: each test has connections of its own.
  beforeEach(async () => {
    const groupRef = `acme-${++count}`;
    hubspot = await installHubspot(groupRef);
    salesforce = await install(platform, 'salesforce-crm', groupRef);
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

  const installHubspot = (groupRef: string): Promise<Customer> =>
    install(platform, 'hubspot-crm', groupRef, {
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
    });
  const email = (): string => `f${++count}@example.com`;
  const create = <Body = ProblemBody>(more: Record<string, unknown> = {}) =>
    hubspot.write<Body & { operationId: string }>('contacts', {
      type: 'create',
      record: { email: email() },
      ...more,
    });
  /** Nothing tells one company from another: HubSpot keeps none of its properties unique. */
  const createKeyless = <Body = ProblemBody>(more: Record<string, unknown> = {}) =>
    hubspot.write<Body & { operationId: string }>('companies', {
      type: 'create',
      record: { name: `Company ${++count}` },
      ...more,
    });
  const created = async (): Promise<string> =>
    (await hubspot.write('contacts', { type: 'create', record: { email: email() } })).body.result?.recordId ??
    '';
  const effectsOf = async (id: string, kind: string) =>
    (await effects(platform.hubspot, 'contacts')).filter((one) => one.id === id && one.kind === kind);
  const later = (interval: string) =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);

  it('§7.1 a throttled synchronous write is 429 with the time to come back and its operation', async () => {
    await fault(platform.hubspot, {
      path: '/contacts',
      fault: { kind: 'status', status: 429, body: secondly },
    });
    const answer = await create();
    expect(answer).toMatchObject({
      status: 429,
      body: {
        code: 'provider-rate-limited',
        category: 'rateLimit',
        retryable: true,
        operationId: expect.any(String),
        provider: { status: 429 },
        errors: [{ message: answer.body.detail }],
      },
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await hubspot.operation(answer.body.operationId)).toMatchObject({
      status: 'failure',
      errors: [{ category: 'rateLimit' }],
    });
  });

  it('§7.1 Salesforce’s limit, a 403, is 429 for the caller', async () => {
    const body = [
      {
        message: 'ConcurrentRequests (Concurrent API Requests) Limit exceeded.',
        errorCode: 'REQUEST_LIMIT_EXCEEDED',
      },
    ];
    await fault(platform.salesforce, {
      path: '/sobjects/Contact',
      fault: { kind: 'status', status: 403, body },
    });
    const answer = await salesforce.write<ProblemBody>('Contact', {
      type: 'create',
      record: { LastName: 'A' },
    });
    expect(answer).toMatchObject({
      status: 429,
      body: { category: 'rateLimit', provider: { status: 403, code: 'REQUEST_LIMIT_EXCEEDED' } },
    });
  });

  it('§7.1 a provider that is down is 502, retryable, with the operation', async () => {
    await fault(platform.hubspot, { path: '/contacts', fault: { kind: 'html', status: 521 } });
    const answer = await create();
    expect(answer).toMatchObject({
      status: 502,
      body: { code: 'provider-unreachable', category: 'providerDown', retryable: true },
    });
    expect(answer.text).not.toContain('<html');
    expect(await hubspot.operation(answer.body.operationId)).toMatchObject({
      status: 'failure',
      counts: { failed: 1, unknown: 0 },
    });
  });

  it('a 503 does not say that nothing was done: what was done is not done again, and what cannot be found is called unknown', async () => {
    const away = { kind: 'status', status: 503, effect: true };
    await fault(platform.hubspot, { method: 'POST', path: '/contacts$', fault: away });
    const found = await create<WriteBody>();
    expect(found).toMatchObject({ status: 200, body: { result: { success: true } } });
    await fault(platform.hubspot, { method: 'POST', path: '/companies$', fault: away });
    const { result: done, requests } = await during(platform.hubspot, async () =>
      hubspot.settled((await createKeyless({ mode: 'asynchronous' })).body.operationId),
    );
    expect(done).toMatchObject({
      status: 'failure',
      counts: { unknown: 1 },
      errors: [{ category: 'unknownOutcome', retryable: false }],
    });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('a create whose answer is lost is called unknown and is not sent again', async () => {
    for (const lost of [
      { kind: 'reset-after' },
      { kind: 'truncate' },
      { kind: 'malformed' },
      { kind: 'html', status: 200 },
      { kind: 'status', status: 500 },
    ]) {
      await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: lost });
      const { result: answer, requests } = await during(platform.hubspot, () => createKeyless());
      expect(answer).toMatchObject({
        status: 502,
        body: { code: 'outcome-unknown', category: 'unknownOutcome', retryable: false },
      });
      expect(answer.body.detail).toMatch(/not known|lost/);
      expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(await hubspot.operation(answer.body.operationId)).toMatchObject({
        status: 'failure',
        counts: { succeeded: 0, failed: 0, unknown: 1 },
      });
    }
  });

  it('a provider that does not answer in time is 504, and the outcome of a create unknown', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/companies',
      fault: { kind: 'hang', effect: true },
    });
    const { result: answer, requests } = await during(platform.hubspot, () => createKeyless());
    expect(answer).toMatchObject({
      status: 504,
      body: { code: 'provider-timeout', category: 'unknownOutcome', retryable: false },
    });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const { operationId } = answer.body;
    expect(await hubspot.operation(operationId)).toMatchObject({ status: 'failure', counts: { unknown: 1 } });
    const records = await platform.call<{ results: unknown[] }>(
      'GET',
      `/projects/default/operations/${operationId}/records`,
    );
    expect(records.body.results).toMatchObject([{ index: 0, success: false, resolution: 'unknown' }]);
  });

  it('the lost answer of an update is called unknown, too, and may be sent again', async () => {
    const id = await created();
    for (const kind of ['hang', 'reset-after']) {
      const lost = kind === 'hang' ? { kind, effect: true } : { kind };
      await fault(platform.hubspot, { method: 'PATCH', path: id, fault: lost });
      const answer = await hubspot.write<ProblemBody>('contacts', {
        type: 'update',
        record: { id, firstname: 'Ada' },
      });
      expect([kind, answer.body]).toMatchObject([
        kind,
        {
          code: kind === 'hang' ? 'provider-timeout' : 'outcome-unknown',
          category: 'unknownOutcome',
          retryable: true,
        },
      ]);
    }
  });

  it('an asynchronous create of unknown outcome is not sent again either', async () => {
    await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'reset-after' } });
    const { result: done, requests } = await during(platform.hubspot, async () =>
      hubspot.settled((await createKeyless({ mode: 'asynchronous' })).body.operationId),
    );
    expect(done).toMatchObject({
      status: 'failure',
      errors: [{ category: 'unknownOutcome' }],
      counts: { unknown: 1 },
    });
    expect(done.result).toMatch(/^\[companies\] /);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('an update whose answer is lost leaves the same state when repeated, and is', async () => {
    const id = await created();
    await fault(platform.hubspot, { method: 'PATCH', path: id, fault: { kind: 'reset-after' } });
    const taken = await hubspot.write('contacts', {
      type: 'update',
      mode: 'asynchronous',
      record: { id, firstname: 'Ada' },
    });
    expect(await hubspot.settled(taken.body.operationId)).toMatchObject({
      status: 'success',
      metadata: { retry: { attempts: 2 } },
    });
    expect(await effectsOf(id, 'update')).toHaveLength(2);
  });

  it('§4.2.5 a throttled asynchronous write is retried until it succeeds', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      times: 2,
      fault: { kind: 'status', status: 429, body: secondly },
    });
    const taken = await create({ mode: 'asynchronous' });
    expect(taken.status).toBe(200);
    const { operationId } = taken.body;
    await expect
      .poll(async () => (await hubspot.operation(operationId)).metadata?.retry?.attempts)
      .toBeGreaterThan(0);
    expect(await hubspot.settled(operationId)).toMatchObject({
      status: 'success',
      metadata: { retry: { attempts: 3 } },
    });
    const logs = await platform.call<{ severity: string }[]>(
      'GET',
      `/projects/default/operations/${operationId}/logs`,
    );
    expect(logs.body.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'info']);
  });

  it('§4.2.5 a provider that is down is tried again, too; a refusal is not', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      fault: { kind: 'status', status: 503 },
    });
    const down = await create({ mode: 'asynchronous' });
    expect(await hubspot.settled(down.body.operationId)).toMatchObject({ status: 'success' });
    const { result: refused, requests } = await during(platform.hubspot, async () =>
      hubspot.settled((await create({ mode: 'asynchronous', record: { nope: 1 } })).body.operationId),
    );
    expect(refused).toMatchObject({
      status: 'failure',
      errors: [{ category: 'validation', retryable: false }],
    });
    expect(refused.result).toMatch(/^\[contacts\] validation: /);
    expect(requests).toHaveLength(1);
  });

  it('§4.2.5, §8 without a retryPolicy the deadline is one hour, with it up to 48', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      times: 2,
      fault: { kind: 'status', status: 429, body: daily },
    });
    const short = await create({ mode: 'asynchronous' });
    expect(await hubspot.settled(short.body.operationId)).toMatchObject({
      status: 'failure',
      errors: [{ category: 'rateLimit' }],
    });
    // The daily limit of the first connection is still reached.
    hubspot = await installHubspot(`with-time-${++count}`);
    const long = await create({ mode: 'asynchronous', retryPolicy: { deadlineHours: 48 } });
    await expect
      .poll(async () => (await hubspot.operation(long.body.operationId)).metadata?.retry)
      .toMatchObject({ attempts: 1, nextAttempt: expect.any(String) });
    expect((await hubspot.operation(long.body.operationId)).status).toBe('in_progress');
    await later('61 minutes');
    expect(await hubspot.settled(long.body.operationId)).toMatchObject({ status: 'success' });
  });

  it('§4.2.5, §7.2, §3 after the deadline a retried write is a failure with a text result', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      times: 1000,
      fault: { kind: 'status', status: 429, body: secondly },
    });
    const { operationId } = (await create({ mode: 'asynchronous', retryPolicy: { deadlineHours: 2 } })).body;
    await expect
      .poll(async () => (await hubspot.operation(operationId)).metadata?.retry?.attempts)
      .toBeGreaterThan(0);
    await later('119 minutes');
    expect(await hubspot.operation(operationId)).toMatchObject({ status: 'in_progress' });
    await later('2 minutes');
    expect(await hubspot.settled(operationId)).toMatchObject({
      status: 'failure',
      result: expect.stringMatching(/^\[contacts\] .*(rateLimit|deadline)/),
    });
  });

  it('asynchronous updates of one record are done in the order they came in', async () => {
    const id = await created();
    await fault(platform.hubspot, { method: 'PATCH', path: id, fault: { kind: 'delay', ms: 300 } });
    await fault(platform.hubspot, {
      method: 'PATCH',
      path: id,
      contains: 'n3',
      fault: { kind: 'status', status: 429, body: secondly },
    });
    const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
    const ids: string[] = [];
    for (const firstname of names) {
      const taken = await hubspot.write('contacts', {
        type: 'update',
        mode: 'asynchronous',
        record: { id, firstname },
      });
      ids.push(taken.body.operationId);
    }
    for (const operationId of ids)
      expect(await hubspot.settled(operationId)).toMatchObject({ status: 'success' });
    expect((await effectsOf(id, 'update')).map(({ fields }) => fields['firstname'])).toEqual(names);
  });

  it('the two forms of a Salesforce id are one record: one order, and one place in a batch', async () => {
    const made = await salesforce.write('Contact', { type: 'create', record: { LastName: 'Two' } });
    const long = made.body.result?.recordId ?? '';
    const forms = [long, long.slice(0, 15), long.toLowerCase()];
    await fault(platform.salesforce, { method: 'PATCH', path: 'Contact', fault: { kind: 'delay', ms: 300 } });
    const names = ['s1', 's2', 's3', 's4', 's5', 's6'];
    const ids: string[] = [];
    for (const [at, LastName] of names.entries()) {
      const record = { id: forms[at % forms.length], LastName };
      const taken = await salesforce.write('Contact', { type: 'update', mode: 'asynchronous', record });
      ids.push(taken.body.operationId);
    }
    for (const id of ids) expect(await salesforce.settled(id)).toMatchObject({ status: 'success' });
    const batch = forms.map((id, at) => ({ record: { id, LastName: `b${at}` } }));
    const inBatch = await salesforce.write('Contact', { type: 'update', batch });
    expect(inBatch).toMatchObject({ status: 200, body: { successCount: 3 } });
    const updates = (await effects(platform.salesforce, 'Contact')).filter(({ kind }) => kind === 'update');
    expect(updates.map(({ fields }) => fields['LastName'])).toEqual([...names, 'b0', 'b1', 'b2']);
    const together = await salesforce.write('Contact', {
      type: 'update',
      batch,
      batchPolicy: { allOrNone: true },
    });
    expect(together).toMatchObject({
      status: 422,
      body: { code: 'record-repeated', issues: [{ name: 'batch[1].record.id' }, {}] },
    });
  });
});
