import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  effects,
  fault,
  install,
  simulator,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startForwarder, type Forwarder } from '../forwarder.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

/** No caller waits longer than this for the answer that the database is away. */
const patienceMs = 20_000;

describe('test/journeys/database-away', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let platform: Platform;
  let customer: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    platform = await startPlatform({ databaseUrl: wire.url, env: { SVC_LOG_LEVEL: 'info' } });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterEach(async () => {
    wire.heal();
    await simulator(platform.hubspot, 'DELETE', '/faults');
    await untilReady();
  });
  afterAll(async () => {
    await platform?.stop();
    await wire?.close();
    await test?.drop();
  });

  const email = (): string => `d${++count}@example.com`;
  const write = (more: Record<string, unknown> = {}) =>
    customer.write<ProblemBody>('contacts', { type: 'create', record: { email: email() }, ...more });
  const timed = async <Body>(
    work: () => Promise<Answer<Body>>,
    withinMs = patienceMs,
  ): Promise<Answer<Body>> => {
    const startedAt = Date.now();
    const answer = await work();
    expect(Date.now() - startedAt).toBeLessThan(withinMs);
    return answer;
  };
  const expectAway = (answer: Answer<ProblemBody>): void => {
    expect(answer).toMatchObject({ status: 503, body: { code: 'database-unavailable', retryable: true } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  };
  /** Of a write without a key that waits for nobody: it may have been on its way to the database, and then its operation is named. */
  const expectAwayOrOpen = (answer: Answer<ProblemBody>): void => {
    if (answer.status === 503) return expectAway(answer);
    const operationId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    const body = { code: 'outcome-unknown', retryable: false, operationId };
    expect(answer).toMatchObject({ status: 502, body });
  };
  const operation = (id = '') => platform.call('GET', `/projects/default/operations/${id}`);
  const untilReady = () =>
    expect.poll(async () => (await platform.call('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200);

  it.each(['refuse', 'hang'] as const)(
    'without the database every answer is 503 with Retry-After, in bounded time, and it comes back by itself (%s)',
    async (how) => {
      const pid = platform.process().pid;
      wire.cut(how);
      const { result: answers, requests } = await during(platform.hubspot, () =>
        Promise.all([
          timed(() => write({ mode: 'asynchronous' })),
          timed(() => write()),
          timed(() => platform.call<ProblemBody>('GET', '/projects/default/connections')),
          timed(() => platform.call<ProblemBody>('POST', '/projects', { name: 'not-now' })),
          // A load balancer does not wait longer.
          timed(() => platform.call<ProblemBody>('GET', '/readyz'), 3_500),
        ]),
      );
      const [queued, ...others] = answers;
      expectAwayOrOpen(queued);
      for (const answer of others) expectAway(answer);
      expect(requests).toEqual([]);
      expect((await platform.call('GET', '/healthz')).status).toBe(200);
      wire.heal();
      await untilReady();
      // Nothing passed the wire; a pooler keeps what it was told, and passes it on then.
      const allowed = process.env['TEST_POOLER'] ? [200, 404] : [404];
      const named = queued.status === 502 ? [queued.body.operationId] : [];
      for (const id of named) expect(allowed).toContain((await operation(id)).status);
      expect((await write()).status).toBe(200);
      const taken = await write({ mode: 'asynchronous' });
      expect(await customer.settled(taken.body.operationId ?? '')).toMatchObject({ status: 'success' });
      expect(platform.process().pid).toBe(pid);
      expect(platform.process().exitCode).toBeNull();
      expect(
        (await platform.call<{ name: string }[]>('GET', '/projects')).body.map(({ name }) => name),
      ).not.toContain('not-now');
    },
    60_000,
  );

  it('a role that lost its rights is an outage like any other', async () => {
    const before = platform.said().length;
    const name = new URL(test.url).pathname.slice(1);
    const newSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`;
    const { result: answers, requests } = await during(platform.hubspot, async () => {
      // New sessions find no table, as without a right to the schema.
      await test.database.raw(`ALTER DATABASE ${name} SET search_path = nowhere`);
      try {
        await test.database.raw(newSessions);
        const ready = () => platform.call<ProblemBody>('GET', '/readyz');
        await expect
          .poll(async () => (await ready()).body.detail, { timeout: 10_000 })
          .toMatch(/does not let this service work: relation .* does not exist/);
        const writes = [timed(() => write()), timed(() => write({ mode: 'asynchronous' }))];
        // Long enough for whatever looks for work every two seconds.
        await sleep(3_000);
        return await Promise.all([...writes, ready()]);
      } finally {
        await test.database.raw(`ALTER DATABASE ${name} RESET search_path`);
        await test.database.raw(newSessions);
      }
    });
    for (const answer of answers) expectAway(answer);
    expect(requests).toEqual([]);
    await untilReady();
    const said = () => platform.said().slice(before);
    await expect.poll(said).toContain('the database is back after');
    const lines = said().split('\n');
    // The end of the sessions, at the beginning and at the end, may be logged as an outage of its own.
    expect(lines.filter((line) => line.includes('the database does not answer')).length).toBeLessThan(4);
    expect(lines.filter((line) => /"stack"|^\s+at /.test(line))).toEqual([]);
  }, 60_000);

  it('a database that lets nobody connect is an outage like any other', async () => {
    const name = new URL(test.url).pathname.slice(1);
    const elsewhere = new URL(test.url);
    elsewhere.pathname = '/postgres';
    const admin = new Client({ connectionString: elsewhere.href });
    await admin.connect();
    expect((await platform.call('GET', '/metrics')).status).toBe(200);
    try {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      const { result: answers, requests } = await during(platform.hubspot, () =>
        Promise.all([
          timed(() => write({ mode: 'asynchronous' })),
          timed(() => write()),
          timed(() => platform.call<ProblemBody>('GET', '/projects/default/connections')),
        ]),
      );
      const [queued, ...others] = answers;
      expectAwayOrOpen(queued);
      for (const answer of others) expectAway(answer);
      expect(requests).toEqual([]);
      const metrics = await platform.call('GET', '/metrics');
      expect(metrics.status).toBe(200);
      const [, away] = /^svc_database_away_seconds (\S+)$/m.exec(metrics.text) ?? [];
      expect(Number(away)).toBeGreaterThan(0);
    } finally {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await admin.end();
    }
    await untilReady();
    expect((await write()).status).toBe(200);
  }, 60_000);

  it('an outage is logged once when it begins and once when it is over, and a refused request in its one line', async () => {
    const before = platform.said().length;
    wire.cut('refuse');
    const refused = await Promise.all([
      ...Array.from({ length: 5 }, () => write()),
      ...Array.from({ length: 5 }, () =>
        platform.call<ProblemBody>('POST', '/projects', { name: 'not-now' }),
      ),
    ]);
    for (const answer of refused) expectAway(answer);
    // Long enough for whatever looks for work every two seconds.
    await sleep(3_000);
    wire.heal();
    await untilReady();
    const said = () => platform.said().slice(before);
    await expect.poll(said).toContain('the database is back after');
    const lines = said().split('\n');
    expect(lines.filter((line) => line.includes('the database does not answer'))).toHaveLength(1);
    expect(lines.filter((line) => /the database is back after ([3-9]|\d\d) s/.test(line))).toHaveLength(1);
    for (const { body } of refused)
      expect(lines.filter((line) => line.includes(body.requestId))).toEqual([
        expect.stringContaining('database-unavailable'),
      ]);
    expect(lines.filter((line) => /"stack"|^\s+at /.test(line))).toEqual([]);
  }, 60_000);

  it('connections that the server ends are replaced without anybody noticing', async () => {
    await write();
    await test.database.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const statuses: number[] = [];
    const asked = async (): Promise<number> => {
      const { status } = await write();
      statuses.push(status);
      return status;
    };
    await expect.poll(asked, { timeout: 10_000 }).toBe(200);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const taken = await write({ mode: 'asynchronous' });
    expect(await customer.settled(taken.body.operationId ?? '')).toMatchObject({ status: 'success' });
  });

  it('what is known is still proxied while the database is away for a moment', async () => {
    const call = () =>
      rawCall(platform.proxy, {
        target: '/crm/v3/objects/contacts?limit=1',
        headers: {
          'x-svc-proxy-version': '1',
          'x-svc-project-id': platform.projectId,
          'x-api-key': platform.apiKey,
          'x-svc-installation-id': customer.installationId,
        },
      });
    expect((await call()).status).toBe(200);
    wire.cut('refuse');
    expect((await call()).status).toBe(200);
    // What is in memory ages after two seconds: from then on each call asks, together with the others.
    await sleep(2_500);
    const together = await Promise.all(Array.from({ length: 10 }, call));
    expect(together.map(({ status }) => status)).toEqual(Array(10).fill(200));
    wire.heal();
    await untilReady();
    wire.cut('hang');
    await sleep(2_500);
    const startedAt = Date.now();
    const silent = await Promise.all(Array.from({ length: 10 }, call));
    expect(silent.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(Date.now() - startedAt).toBeLessThan(8_000);
  }, 30_000);

  it('a write that was sent when the database went away is not sent again, and its outcome is not lost', async () => {
    await fault(platform.hubspot, { method: 'POST', path: '/contacts', fault: { kind: 'delay', ms: 800 } });
    const address = email();
    const sending = customer.write<ProblemBody>('contacts', { type: 'create', record: { email: address } });
    await expect
      .poll(async () => (await simulator<{ faults: unknown[] }>(platform.hubspot, 'GET', '/faults')).faults)
      .toEqual([]);
    wire.cut('refuse');
    setTimeout(() => wire.heal(), 1_500);
    const answer = await sending;
    expect([200, 503]).toContain(answer.status);
    await untilReady();
    const made = (await effects(platform.hubspot, 'contacts')).filter(
      ({ fields }) => fields?.['email'] === address,
    );
    expect(made).toHaveLength(1);
    const path = `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}/operations?pageSize=1`;
    await expect
      .poll(
        async () =>
          (await platform.call<{ results: { status: string }[] }>('GET', path)).body.results?.[0]?.status,
        { timeout: 15_000 },
      )
      .toBe('success');
  });

  it.each(['refuse', 'hang'] as const)(
    'a write that is repeated with its key before, in and right after an outage is answered 200 or 503, and done once (%s)',
    async (how) => {
      const told: { status: number; code: string | undefined }[] = [];
      const emails = Array.from({ length: 20 }, email);
      const writeUntilDone = async (address: string, index: number): Promise<void> => {
        await sleep(index * 100);
        const headers = { 'idempotency-key': `again-${address}` };
        const body = { type: 'create', record: { email: address } };
        for (;;) {
          const answer = await customer.write<ProblemBody>('contacts', body, { headers });
          told.push({ status: answer.status, code: answer.body.code });
          if (![409, 503].includes(answer.status)) return;
          await sleep(100);
        }
      };
      const writers = Promise.all(emails.map(writeUntilDone));
      await sleep(600);
      wire.cut(how);
      await sleep(1_500);
      wire.heal();
      await writers;
      // 409: the attempt before is still being done.
      const others = told.filter(
        ({ status, code }) => ![200, 503].includes(status) && code !== 'idempotency-key-in-flight',
      );
      expect(others).toEqual([]);
      const made = (await effects(platform.hubspot, 'contacts')).map(({ fields }) => String(fields['email']));
      expect(made.filter((address) => emails.includes(address)).sort()).toEqual(emails.sort());
    },
    60_000,
  );

  it('queued work goes on when the database is back', async () => {
    await fault(platform.hubspot, { method: 'POST', path: '/contacts', fault: { kind: 'delay', ms: 500 } });
    const taken = await Promise.all([
      write({ mode: 'asynchronous' }),
      write({ mode: 'asynchronous' }),
      write({ mode: 'asynchronous' }),
    ]);
    wire.cut('refuse');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    wire.heal();
    await untilReady();
    for (const { body } of taken)
      expect(await customer.settled(body.operationId ?? '', 25_000)).toMatchObject({ status: 'success' });
  });

  it('what the database refuses before anything was sent is done a moment later, and once', async () => {
    const emails = Array.from({ length: 60 }, email);
    const taken = await Promise.all(
      emails.map((address) =>
        customer.write('contacts', {
          type: 'create',
          mode: 'asynchronous',
          record: { email: address },
        }),
      ),
    );
    wire.refuse(['40001', '40P01', '55P03', '57014', '57P01', 'XX000'], 0.4);
    await sleep(4_000);
    wire.heal();
    for (const { body } of taken)
      expect(await customer.settled(body.operationId ?? '', 30_000)).toMatchObject({ status: 'success' });
    const made = (await effects(platform.hubspot, 'contacts')).map(({ fields }) => String(fields?.['email']));
    expect(made.filter((address) => emails.includes(address)).sort()).toEqual(emails.sort());
  }, 60_000);

  // This test is the last: the log of so many requests leaves no room for later lines.
  it('callers wait some seconds while the database is silent under load, and not once that is known', async () => {
    wire.cut('hang');
    const startedAt = Date.now();
    const waits: { after: number; took: number; answer: Answer<ProblemBody> }[] = [];
    const asking: Promise<void>[] = [];
    const ask = async (): Promise<void> => {
      const after = Date.now() - startedAt;
      const answer = await write({ mode: 'asynchronous' });
      waits.push({ after, took: Date.now() - startedAt - after, answer });
    };
    while (Date.now() - startedAt < 11_000) {
      asking.push(ask());
      await sleep(25);
    }
    await Promise.all(asking);
    for (const { answer } of waits) expectAwayOrOpen(answer);
    const longest = (of: typeof waits): number => Math.max(...of.map(({ took }) => took));
    expect(longest(waits)).toBeLessThan(11_000);
    const later = waits.filter(({ after }) => after > 9_000);
    expect(later.length).toBeGreaterThan(10);
    for (const { answer } of later) expectAway(answer);
    expect(longest(later)).toBeLessThan(1_000);
    wire.heal();
    const healedAt = Date.now();
    await untilReady();
    expect(Date.now() - healedAt).toBeLessThan(3_000);
    expect((await write()).status).toBe(200);
  }, 60_000);
});
