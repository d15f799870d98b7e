import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  companiesMade,
  deploy,
  effects,
  fault,
  install,
  type Customer,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

describe('test/journeys/idempotency-crash', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  const leaseMs = 1_500;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_LEASE_MS: String(leaseMs) } });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme', {
      write: { objects: { companies: { objectName: 'companies' } } },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const write = (
    body: Record<string, unknown>,
    key: string | undefined,
    { node = platform } = {},
  ): Promise<Answer<WriteBody>> =>
    node.call('POST', '/write/v1/projects/default/integrations/hubspot-crm/objects/companies', body, {
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const create = (name: string, given: Record<string, unknown> = {}) => ({
    groupRef: 'acme',
    type: 'create',
    record: { name },
    ...given,
  });
  const made = (name: string): Promise<number> => companiesMade(platform.hubspot, name);
  const operations = async (): Promise<number> =>
    (await test.database.raw('SELECT count(*)::int AS n FROM operation'))[0]?.['n'] as number;
  const isReplay = ({ headers }: Answer<unknown>): boolean => headers.get('idempotent-replayed') === 'true';

  /** Sends to a node that dies after its first commit, before the answer. */
  async function answerLost(body: Record<string, unknown>, key: string): Promise<void> {
    const dying = await startPlatform({
      databaseUrl: test.url,
      beside: platform,
      env: { SVC_LEASE_MS: String(leaseMs), SVC_CRASH_AT: 'after-accept' },
    });
    await expect(write(body, key, { node: dying })).rejects.toThrow('was not answered');
    await dying.stop();
  }

  it('a node dies between commit and reply: the repetition finds the queued operation', async () => {
    const body = create('died queued', { mode: 'asynchronous' });
    const before = await operations();
    await answerLost(body, 'died-queued');
    const again = await write(body, 'died-queued');
    expect([again.status, isReplay(again)]).toEqual([200, true]);
    expect(await acme.settled(again.body.operationId)).toMatchObject({ status: 'success' });
    expect([await operations(), await made('died queued')]).toEqual([before + 1, 1]);
  });

  it('a node dies between commit and reply: the repetition waits for what became of the synchronous write', async () => {
    const body = create('died at once');
    await answerLost(body, 'died-at-once');
    const meanwhile = await write(body, 'died-at-once');
    expect(meanwhile).toMatchObject({ status: 409, body: { code: 'idempotency-key-in-flight' } });
    let again = meanwhile;
    await expect
      .poll(async () => (again = await write(body, 'died-at-once')).status, { timeout: 30_000 })
      .not.toBe(409);
    expect(isReplay(again)).toBe(true);
    const operation = await acme.operation(again.body.operationId);
    expect(again).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    expect(operation).toMatchObject({ status: 'failure', counts: { unknown: 1 } });
    expect(await made('died at once')).toBe(0);
  });

  it('a node dies before the turn of a synchronous write: nothing was sent of it, and its repetition does it', async () => {
    const key = 'died-in-turn';
    const { recordId: id } = (await write(create('waited for'), undefined)).body.result ?? {};
    const update = (name: string) => ({ groupRef: 'acme', type: 'update', record: { id, name } });
    const path = `/companies/${id}`;
    await fault(platform.hubspot, { method: 'PATCH', path, fault: { kind: 'delay', ms: 6_000 }, times: 1 });
    const before = write(update('before'), undefined);
    const underWay = `SELECT FROM operation WHERE status = 'in_progress' AND request ->> 'groupRef' = 'acme'`;
    await expect.poll(async () => (await test.database.raw(underWay)).length).toBe(1);
    await answerLost(update('in turn'), key);
    let done = await write(update('in turn'), key);
    expect(done).toMatchObject({ status: 409, body: { code: 'idempotency-key-in-flight' } });
    expect(await before).toMatchObject({ status: 200 });
    await expect
      .poll(async () => (done = await write(update('in turn'), key)).status, { timeout: 30_000 })
      .not.toBe(409);
    expect([done.status, isReplay(done)]).toEqual([200, false]);
    const { retryOf = '' } = await acme.operation(done.body.operationId);
    expect(await acme.operation(retryOf)).toMatchObject({
      status: 'failure',
      retriedBy: done.body.operationId,
    });
    const again = await write(update('in turn'), key);
    expect([again.status, isReplay(again)]).toEqual([200, true]);
    expect(again.body.operationId).toBe(done.body.operationId);
    const names = (await effects(platform.hubspot, 'companies'))
      .filter((effect) => effect.kind === 'update' && effect.id === id)
      .map(({ fields }) => fields['name']);
    expect(names).toEqual(['before', 'in turn']);
  });
});
