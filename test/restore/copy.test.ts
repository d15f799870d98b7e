import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../../scripts/child.ts';
import { openFolder } from '../../src/cli/run.fixture.ts';
import { openDatabase } from '../../src/kit/db/database.ts';
import { deploy, effects, fault, install, simulator, type Customer } from '../customer.ts';
import { sleep } from '../../src/kit/retry.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { envOf, operate, startHeld } from './operator.ts';

/** A copy of the database as it is now. Nobody may be connected to it meanwhile. */
async function copyOf(url: string): Promise<TestDatabase> {
  const admin = openDatabase({
    url: Object.assign(new URL(url), { pathname: '/postgres' }).href,
    poolSize: 1,
    applicationName: 'svc test copy',
  });
  const name = `${new URL(url).pathname.slice(1)}_${randomBytes(3).toString('hex')}`;
  await admin.raw(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`,
  );
  await admin.raw(`CREATE DATABASE ${name} TEMPLATE ${new URL(url).pathname.slice(1)} STRATEGY wal_log`);
  const copied = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const database = openDatabase({ url: copied, poolSize: 2, applicationName: 'svc test' });
  const drop = async () => {
    await database.close();
    await admin.raw(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.close();
  };
  return { url: copied, database, drop };
}

describe('test/restore/copy', () => {
  let original: TestDatabase;
  let backup: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  const ids: Record<string, string> = {};

  const accept = async (name: string, body: Record<string, unknown>) => {
    const answer = await customer.write('contacts', { mode: 'asynchronous', ...body });
    expect(answer).toMatchObject({ status: 200 });
    ids[name] = answer.body.operationId;
  };

  beforeAll(async () => {
    original = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: original.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'group-1');
    const made = await customer.write('contacts', { type: 'create', record: { email: 'first@example.com' } });
    const recordId = made.body.result?.recordId ?? '';
    // What is accepted now waits: the provider is away.
    await fault(platform.hubspot, { path: '/crm/', times: 1_000, fault: { kind: 'status', status: 503 } });
    await accept('keyed', { type: 'create', record: { email: 'keyed@example.com' } });
    await accept('keyless', { type: 'create', record: { firstname: 'Nobody' } });
    await accept('update', { type: 'update', record: { id: recordId, firstname: 'old' } });
    await accept('upsert', {
      type: 'upsert',
      upsertBy: 'email',
      record: { email: 'upserted@example.com', firstname: 'old' },
    });
    await accept('gathered', {
      type: 'update',
      record: { id: recordId, lastname: 'gathered' },
      autoBatchPolicy: { maxDelayMinutes: 60 },
    });
    platform.process().kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 100));
  });
  afterAll(async () => {
    await platform?.stop();
    await backup?.drop();
    await original?.drop();
  });

  it('holds a restored database until it is resumed, and sends nothing again that was sent after the backup', async () => {
    backup = await copyOf(original.url);
    platform.process().kill('SIGCONT');
    // What happens after the backup: all of it is done, and a newer value stands.
    await simulator(platform.hubspot, 'DELETE', '/faults');
    const held = await startHeld(backup.url);
    try {
      expect((await fetch(`${held.base}/healthz`)).status).toBe(200);
      for (const url of [`${held.base}/readyz`, `${held.base}/v1/projects`, `${held.proxy}/crm/v3/objects`]) {
        const answer = await fetch(url);
        expect([answer.status, answer.headers.get('x-svc-problem'), await answer.json()]).toEqual([
          503,
          'restored',
          expect.objectContaining({ code: 'restored' }),
        ]);
      }
      const at = await openFolder();
      const looked = await at.run(['doctor'], { env: { SVC_API_URL: held.base } });
      expect(looked).toMatchObject({ code: 4, out: expect.stringContaining('The database is held: ') });
      expect(looked.out).toContain('svc restore resume');
      await at.close();
      expect(held.child.said()).not.toContain('"level":50');
      for (const name of ['keyed', 'keyless', 'update', 'upsert']) await customer.settled(ids[name] ?? '');
    } finally {
      await held.child.end('SIGTERM');
    }
    const before = await effects(platform.hubspot, 'contacts');

    platform.process().kill('SIGKILL');
    const resumed = await operate(backup.url, 'restore', 'resume');
    expect(resumed.said).toContain('3 unfinished writes ended with an unknown outcome');
    expect(resumed.said).toContain('2 unfinished creates are looked for');
    expect(resumed.code).toBe(0);
    await platform.restart('SIGKILL', { DATABASE_URL: backup.url });

    expect(await customer.settled(ids['keyed'] ?? '')).toMatchObject({ status: 'success' });
    for (const name of ['update', 'upsert', 'gathered']) {
      const ended = await customer.settled(ids[name] ?? '');
      expect(ended).toMatchObject({ status: 'failure', counts: { unknown: 1 } });
      expect(ended.errors?.[0]).toMatchObject({ category: 'unknownOutcome', retryable: false });
      expect(ended.errors?.[0]?.message).toContain('restored from a backup');
    }
    expect(await customer.settled(ids['keyless'] ?? '')).toMatchObject({
      status: 'failure',
      errors: [{ category: 'unknownOutcome' }],
    });
    expect(await effects(platform.hubspot, 'contacts')).toEqual(before);
  }, 60_000);

  it('goes on as it was where nothing is lost, and is held when its operator says so', async () => {
    const moved = await copyOf(backup.url);
    try {
      expect((await operate(moved.url, 'restore', 'resume', '--nothing-lost')).said).toContain(
        'The nodes go on',
      );
      expect((await operate(moved.url, 'restore', 'hold')).said).toMatch(
        /until you run svc restore resume\. Nodes that run work on for some seconds/,
      );
      const held = await startHeld(moved.url);
      await held.child.end('SIGTERM');
      expect((await operate(moved.url, 'restore', 'resume', '--nothing-lost')).code).toBe(0);
      expect(await operate(moved.url, 'restore', 'resume')).toEqual({
        code: 1,
        said: expect.stringContaining('is not held') as string,
      });
      await operate(moved.url, 'restore', 'hold');
      const worker = () => startChild(['src/main.ts', 'worker'], { env: envOf(moved.url) });
      const workers = [worker(), worker()];
      for (const one of workers)
        await expect.poll(() => one.said(), { timeout: 20_000 }).toContain('The database is held');
      await sleep(500);
      expect(workers.map(({ process }) => process.exitCode)).toEqual([null, null]);
      await Promise.all(workers.map((one) => one.end('SIGTERM')));
    } finally {
      await moved.drop();
    }
  }, 60_000);
});
