import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  deploy,
  during,
  fault,
  install,
  requestsOf,
  simulator,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/write-authorization', () => {
  let test: TestDatabase;
  let platform: Platform;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_PROVIDER_CALL_MS: '1500' } });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const email = (): string => `a${++count}@example.com`;

  it('an expired token is renewed once and the write repeated', async () => {
    const customer = await install(platform, 'hubspot-crm', 'expired');
    const create = () => customer.write('contacts', { type: 'create', record: { email: email() } });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    const { result: answer, requests } = await during(platform.hubspot, () =>
      Promise.all([create(), create(), create()]),
    );
    expect(answer.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(requests.filter(({ path }) => path.includes('/token'))).toHaveLength(1);
  });

  it('a revoked authorization is an auth failure, and the connection says so', async () => {
    const other = await install(platform, 'hubspot-crm', 'revoked');
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    const answer = await other.write<ProblemBody & { errors?: { category: string }[] }>('contacts', {
      type: 'create',
      record: { email: email() },
    });
    expect(answer).toMatchObject({ status: 422 });
    const connection = await platform.call('GET', `/projects/default/connections/${other.connectionId}`);
    expect(connection.body).toMatchObject({ status: 'bad_credentials' });
    const before = (await requestsOf(platform.hubspot)).length;
    const next = await other.write<ProblemBody>('contacts', { type: 'create', record: { email: email() } });
    expect(next).toMatchObject({
      status: 422,
      body: { code: 'connection-bad-credentials', remedy: expect.stringContaining('oauth-update') },
    });
    expect(await requestsOf(platform.hubspot)).toHaveLength(before);
  });

  it.each([
    ['without a reason', 'no-reason', { status: 401 }, 'status 401'],
    [
      'with a code that nobody explained',
      'odd-code',
      { status: 400, body: { error: 'maintenance_mode', error_description: 'Back soon' } },
      'Back soon (maintenance_mode)',
    ],
  ])(
    'a token endpoint that refuses %s is a provider that is away: nothing was sent, and it may pass',
    async (_how, group, answer, told) => {
      const other = await install(platform, 'hubspot-crm', group);
      const saidBefore = platform.said().length;
      const token = { path: '/oauth/2026-03/token', times: 1, fault: { kind: 'status', ...answer } };
      const create = (more = {}) =>
        other.write<ProblemBody>('contacts', { type: 'create', record: { email: email() }, ...more });
      await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
      await fault(platform.hubspot, token);
      expect(await create()).toMatchObject({
        status: 502,
        body: { code: 'provider-unreachable', retryable: true, detail: expect.stringContaining(told) },
      });
      await fault(platform.hubspot, token);
      const queued = await create({ mode: 'asynchronous' });
      expect(await other.settled(queued.body.operationId ?? '')).toMatchObject({ status: 'success' });
      expect(await create()).toMatchObject({ status: 200 });
      expect(platform.said().slice(saidBefore)).not.toContain('"level":50');
    },
  );

  it('a client that the token endpoint refuses is the fault of the provider app, and says so', async () => {
    const other = await install(platform, 'hubspot-crm', 'refused-client');
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    const body = { error: 'invalid_client', error_description: 'The secret is wrong' };
    await fault(platform.hubspot, {
      path: '/oauth/2026-03/token',
      times: 1,
      fault: { kind: 'status', status: 401, body },
    });
    const create = () => other.write<ProblemBody>('contacts', { type: 'create', record: { email: email() } });
    expect(await create()).toMatchObject({
      status: 422,
      body: {
        code: 'provider-app-invalid',
        retryable: false,
        detail: expect.stringContaining('The secret is wrong'),
        remedy: expect.stringContaining('client secret'),
      },
    });
    // It is asked again a second later.
    await expect.poll(create, { timeout: 5_000, interval: 500 }).toMatchObject({ status: 200 });
  });

  it('some seconds of 401 pass: the connection stays, a queued write is done, and a synchronous one may be repeated', async () => {
    const other = await install(platform, 'hubspot-crm', 'glitch');
    const create = (more = {}) =>
      other.write<ProblemBody>('contacts', { type: 'create', record: { email: email() }, ...more });
    for (const [path, times] of [
      ['/crm/v3/objects/contacts', 4],
      ['/integrations/v1/me', 1],
    ] as const)
      await fault(platform.hubspot, { path, times, fault: { kind: 'status', status: 401 } });
    expect(await create()).toMatchObject({
      status: 502,
      body: { code: 'provider-unreachable', category: 'auth', retryable: true },
    });
    const queued = await create({ mode: 'asynchronous' });
    expect(await other.settled(queued.body.operationId ?? '')).toMatchObject({ status: 'success' });
    const connection = await platform.call('GET', `/projects/default/connections/${other.connectionId}`);
    expect(connection.body).toMatchObject({ status: 'working' });
  });

  it('a create of unknown outcome waits for the customer to connect again, and is looked for then', async () => {
    const other = await install(platform, 'hubspot-crm', 'revoked-while-unknown');
    const contacts = { method: 'POST', path: '/crm/v3/objects/contacts' };
    const later = () => test.database.raw(`UPDATE clock SET shift = shift + interval '2 minutes'`);
    const record = { email: email() };
    await fault(platform.hubspot, { ...contacts, fault: { kind: 'status', status: 503 } });
    const lost = await other.write<ProblemBody & { operationId: string }>('contacts', {
      type: 'create',
      record,
    });
    expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    const queue = await other.write('contacts', {
      type: 'create',
      mode: 'asynchronous',
      record: { email: email() },
    });
    expect((await other.settled(queue.body.operationId)).status).toBe('success');
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    await later();
    const known = () => other.operation(lost.body.operationId);
    await expect
      .poll(async () => (await known()).errors?.[0], { timeout: 20_000 })
      .toMatchObject({
        category: 'unknownOutcome',
        message: expect.stringMatching(
          /could not be looked for: The credentials of connection .* no longer work/,
        ),
      });
    expect(await known()).toMatchObject({ status: 'in_progress' });
    await later();
    await sleep(3_000);
    const waiting = await known();
    expect(waiting).toMatchObject({ status: 'in_progress' });
    expect(waiting.errors?.[0]?.message.match(/could not be looked for/g)).toHaveLength(1);
    expect(await connect(platform, 'hubspot', 'revoked-while-unknown')).toBe(other.connectionId);
    await later();
    expect(await other.settled(lost.body.operationId)).toMatchObject({
      status: 'failure',
      counts: { failed: 1, unknown: 0 },
      errors: [{ message: expect.stringContaining('looked for by email and is not there') }],
    });
  }, 60_000);

  it('what was queued before the authorization was revoked fails at once, with what to do', async () => {
    const other = await install(platform, 'hubspot-crm', 'revoked-later');
    const start = await other.write('contacts', { type: 'create', record: { email: email() } });
    expect(start.status).toBe(200);
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    const taken: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const one = await other.write('contacts', {
        type: 'create',
        mode: 'asynchronous',
        retryPolicy: { deadlineHours: 48 },
        record: { email: email() },
      });
      if (one.status === 200) taken.push(one.body.operationId);
    }
    expect(taken.length).toBeGreaterThan(0);
    for (const id of taken)
      expect(await other.settled(id)).toMatchObject({
        status: 'failure',
        counts: { failed: 1, unknown: 0 },
        errors: [{ category: 'auth', retryable: false }],
      });
  });

  it('what waits for a later attempt fails soon after the authorization was revoked, not at that attempt', async () => {
    const other = await install(platform, 'hubspot-crm', 'revoked-while-waiting');
    const queue = async (answer: { status: number; body: object }) => {
      await fault(platform.hubspot, {
        method: 'POST',
        path: '/crm/v3/objects/contacts',
        fault: { kind: 'status', ...answer, headers: { 'retry-after': '1800' } },
      });
      const queued = await other.write('contacts', {
        type: 'create',
        mode: 'asynchronous',
        retryPolicy: { deadlineHours: 48 },
        record: { email: email() },
      });
      expect(queued.status).toBe(200);
      const { operationId } = queued.body;
      const attempts = async () => (await other.operation(operationId)).metadata?.retry?.attempts;
      await expect.poll(attempts, { timeout: 10_000 }).toBe(1);
      return operationId;
    };
    // One waits for its own next attempt; the second closes the window of the whole lane.
    const locked = await queue({ status: 423, body: {} });
    const limited = await queue({ status: 429, body: { policyName: 'DAILY' } });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    const path = `/projects/default/connections/${other.connectionId}?refresh=force`;
    expect((await platform.call('GET', path)).status).toBe(422);
    for (const id of [locked, limited])
      expect(await other.settled(id)).toMatchObject({
        status: 'failure',
        counts: { failed: 1, unknown: 0 },
        errors: [{ category: 'auth', retryable: false }],
      });
  });
});
