import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  companiesMade,
  deploy,
  effects,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

/** `Retry-Failed` beside an `Idempotency-Key`. */
describe('test/journeys/retry-failed', () => {
  let test: TestDatabase;
  let platform: Platform;
  let second: Platform;
  let acme: Customer;
  let keys = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    second = await startPlatform({ databaseUrl: test.url, beside: platform });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme', {
      write: { objects: { companies: { objectName: 'companies', deletionSettings: { enabled: true } } } },
    });
  }, 120_000);
  afterAll(async () => {
    await second?.stop();
    await platform?.stop();
    await test?.drop();
  });

  const newKey = (): string => `key-${++keys}`;
  const write = (
    body: Record<string, unknown>,
    key: string | undefined,
    { again = true, node = platform } = {},
  ): Promise<Answer<WriteBody & ProblemBody>> =>
    node.call('POST', '/write/v1/projects/default/integrations/hubspot-crm/objects/companies', body, {
      headers: {
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(again ? { 'retry-failed': 'true' } : {}),
      },
    });
  const create = (name: string, given: Record<string, unknown> = {}) => ({
    groupRef: 'acme',
    type: 'create',
    record: { name },
    ...given,
  });
  const made = (name: string): Promise<number> => companiesMade(platform.hubspot, name);
  const idOf = async (name: string): Promise<string> => {
    const { body } = await write(create(name), undefined, { again: false });
    return body.result?.recordId ?? '';
  };
  const refuse = (times: number): Promise<unknown> =>
    fault(platform.hubspot, {
      method: 'POST',
      path: '/companies',
      fault: { kind: 'status', status: 400 },
      times,
    });
  const isReplay = ({ headers }: Answer<unknown>): boolean => headers.get('idempotent-replayed') === 'true';
  const retry = (operationId: string): Promise<Answer<{ operationId: string }>> =>
    platform.call('POST', `/projects/default/operations/${operationId}:retry`, {});

  it('a write that failed is written again in an operation that stands in its place, and never a third time', async () => {
    await refuse(2);
    const key = newKey();
    const first = await write(create('Again'), key);
    expect(first.status).toBe(422);
    // Without the header the failure is the answer.
    const same = await write(create('Again'), key, { again: false });
    expect([same.status, same.body.operationId, isReplay(same)]).toEqual([422, first.body.operationId, true]);
    const failed = await write(create('Again'), key);
    expect([failed.status, isReplay(failed)]).toEqual([422, false]);
    const done = await write(create('Again'), key);
    expect([done.status, isReplay(done)]).toEqual([200, false]);
    expect(await acme.operation(first.body.operationId)).toMatchObject({
      retriedBy: failed.body.operationId,
    });
    expect(await acme.operation(failed.body.operationId)).toMatchObject({ retriedBy: done.body.operationId });
    expect(await acme.operation(done.body.operationId)).toMatchObject({ retryOf: failed.body.operationId });
    // From now on that is the answer, and a retry of what failed leads there.
    const replayed = await write(create('Again'), key);
    expect([replayed.status, isReplay(replayed), replayed.body.operationId]).toEqual([
      200,
      true,
      done.body.operationId,
    ]);
    expect(replayed.body.result).toMatchObject({ success: true, recordId: done.body.result?.recordId });
    expect((await retry(first.body.operationId)).body.operationId).toBe(failed.body.operationId);
    expect((await retry(failed.body.operationId)).body.operationId).toBe(done.body.operationId);
    const many = await platform.call<{ retried: number; before: number }>(
      'POST',
      '/projects/default/operations:retry',
      { filter: { object: 'companies' } },
    );
    expect(many.body).toMatchObject({ retried: 0, before: 2 });
    expect(await made('Again')).toBe(1);
  }, 60_000);

  it('what was written again is the answer, also where nothing is kept of what failed', async () => {
    await refuse(1);
    const key = newKey();
    const first = await write(create('Kept'), key);
    const done = await write(create('Kept'), key);
    expect([first.status, done.status]).toEqual([422, 200]);
    const forget = (id: string) => test.database.raw('DELETE FROM operation WHERE id = $1', [id]);
    const { operationId } = done.body;
    await forget(first.body.operationId);
    expect(await write(create('Kept'), key)).toMatchObject({ status: 200, body: { operationId } });
    await forget(operationId);
    expect(await write(create('Kept'), key)).toMatchObject({ status: 410, body: { operationId } });
    expect(await made('Kept')).toBe(1);
  }, 60_000);

  it('what somebody else retried is the answer, while it goes on and once it is done', async () => {
    await refuse(1);
    const key = newKey();
    const first = await write(create('By another'), key);
    const by = (await retry(first.body.operationId)).body.operationId;
    await acme.settled(by);
    const answer = await write(create('By another'), key);
    expect([answer.status, isReplay(answer), answer.body.operationId]).toEqual([200, true, by]);
    expect(answer.body.result).toMatchObject({ success: true });
    expect(await made('By another')).toBe(1);
  }, 60_000);

  it('what was made in place of a failed one is the answer also where the request would be refused by now', async () => {
    const gone = await install(platform, 'hubspot-crm', 'gone', {
      write: { objects: { companies: { objectName: 'companies' } } },
    });
    await refuse(1);
    const key = newKey();
    const body = create('Gone by now', { groupRef: 'gone' });
    const first = await write(body, key);
    const done = await write(body, key);
    expect([first.status, done.status]).toEqual([422, 200]);
    await platform.call(
      'DELETE',
      `/projects/default/integrations/hubspot-crm/installations/${gone.installationId}`,
    );
    const again = await write(body, key);
    expect([again.status, isReplay(again), again.body.operationId]).toEqual([
      200,
      true,
      done.body.operationId,
    ]);
    const plain = await write(body, key, { again: false });
    expect([plain.status, plain.body.operationId]).toEqual([422, first.body.operationId]);
    expect((await write(body, newKey())).body.code).toBe('installation-not-found');
  }, 60_000);

  it('of many requests at once, on two nodes, one writes again', async () => {
    await refuse(1);
    const key = newKey();
    expect((await write(create('At once'), key)).status).toBe(422);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        write(create('At once'), key, { node: n % 2 ? second : platform }),
      ),
    );
    for (const { status, body } of answers)
      expect(status === 200 || body.code === 'idempotency-key-in-flight').toBe(true);
    expect(answers.filter((one) => one.status === 200 && !isReplay(one)).length).toBeLessThanOrEqual(1);
    expect(await made('At once')).toBe(1);
  }, 60_000);

  it('what may have been done is not written again', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/companies',
      fault: { kind: 'reset-after' },
      times: 1,
    });
    const key = newKey();
    const lost = await write(create('Lost'), key);
    expect(lost.body.code).toBe('outcome-unknown');
    const again = await write(create('Lost'), key);
    expect([again.body.operationId, isReplay(again)]).toEqual([lost.body.operationId, true]);
    await platform.call('POST', `/projects/default/operations/${lost.body.operationId}:resolve`, {
      resolution: 'notApplied',
    });
    const resolved = await write(create('Lost'), key);
    expect([resolved.status, isReplay(resolved)]).toEqual([200, false]);
    expect(await acme.operation(lost.body.operationId)).toMatchObject({
      retriedBy: resolved.body.operationId,
    });
  }, 60_000);

  it.each(['update', 'delete'])(
    'what was not answered is written again in its place where that leaves the same state: %s',
    async (type) => {
      const id = await idOf(`To ${type}`);
      const method = type === 'update' ? 'PATCH' : 'DELETE';
      await fault(platform.hubspot, {
        method,
        path: `/companies/${id}`,
        fault: { kind: 'reset-before' },
        times: 1,
      });
      const body = {
        groupRef: 'acme',
        type,
        record: { id, ...(type === 'update' ? { name: 'Once more' } : {}) },
      };
      const key = newKey();
      const lost = await write(body, key, { again: false });
      expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown', retryable: true } });
      expect(lost.body.remedy).toContain('`Retry-Failed: true`');
      // Without the header the lost one is the answer.
      const same = await write(body, key, { again: false });
      expect([same.body.operationId, isReplay(same)]).toEqual([lost.body.operationId, true]);
      const done = await write(body, key);
      expect([done.status, isReplay(done)]).toEqual([200, false]);
      expect(await acme.operation(lost.body.operationId)).toMatchObject({
        status: 'failure',
        retriedBy: done.body.operationId,
      });
      expect(await acme.operation(done.body.operationId)).toMatchObject({
        status: 'success',
        retryOf: lost.body.operationId,
      });
      const replayed = await write(body, key);
      expect([replayed.body.operationId, isReplay(replayed)]).toEqual([done.body.operationId, true]);
      expect(
        (await effects(platform.hubspot, 'companies')).filter((one) => one.id === id && one.kind === type),
      ).toHaveLength(1);
    },
    60_000,
  );

  it('a delete that was surely not done is not told as done where somebody else removed the record', async () => {
    const sales = await install(platform, 'salesforce-crm', 'acme', {
      write: { objects: { Contact: { objectName: 'Contact', deletionSettings: { enabled: true } } } },
    });
    const created = await sales.write('Contact', { type: 'create', record: { LastName: 'Gone' } });
    const id = created.body.result?.recordId;
    const body = [{ errorCode: 'UNABLE_TO_LOCK_ROW', message: 'locked' }];
    await fault(platform.salesforce, {
      method: 'DELETE',
      path: '/sobjects/Contact',
      fault: { kind: 'status', status: 400, body },
      times: 2,
    });
    const refused = await sales.write('Contact', { type: 'delete', record: { id } });
    const removed = { object: 'Contact', action: 'delete', records: [{ Id: id }] };
    await simulator(platform.salesforce, 'POST', '/data', removed);
    const again = await retry(refused.body.operationId);
    expect(await sales.settled(again.body.operationId)).toMatchObject({
      status: 'failure',
      errors: [{ category: 'notFound' }],
      metadata: { retry: { attempts: 2 } },
    });
  }, 60_000);

  it('an asynchronous update of unknown outcome is written again once it has ended', async () => {
    const id = await idOf('Late');
    const path = `/companies/${id}`;
    await fault(platform.hubspot, { method: 'PATCH', path, fault: { kind: 'reset-before' } });
    const body = { groupRef: 'acme', type: 'update', mode: 'asynchronous', record: { id, name: 'Later' } };
    const key = newKey();
    const first = await write(body, key);
    // Between two attempts: the clock ends the lease of one that is under way, and nobody knows of it then.
    const rests = 'SELECT FROM work WHERE ref = $1 AND state = 0 AND attempt > 0';
    await expect
      .poll(() => test.database.raw(rests, [first.body.operationId]), { interval: 5 })
      .toHaveLength(1);
    await test.database.raw("UPDATE clock SET shift = shift + interval '2 hours'");
    expect(await acme.settled(first.body.operationId)).toMatchObject({ status: 'failure' });
    await simulator(platform.hubspot, 'DELETE', '/faults');
    const again = await write(body, key);
    expect([again.status, isReplay(again)]).toEqual([200, false]);
    expect(await acme.settled(again.body.operationId)).toMatchObject({
      status: 'success',
      retryOf: first.body.operationId,
    });
  }, 60_000);

  it('an asynchronous one is written again as it was planned', async () => {
    await refuse(1);
    const key = newKey();
    const later = create('Later', { mode: 'asynchronous' });
    const first = await write(later, key);
    expect((await acme.settled(first.body.operationId)).status).toBe('failure');
    const again = await write(later, key);
    expect([again.status, isReplay(again)]).toEqual([200, false]);
    expect(again.body.operationId).not.toBe(first.body.operationId);
    expect(await acme.settled(again.body.operationId)).toMatchObject({
      status: 'success',
      retryOf: first.body.operationId,
    });
    const same = await write(later, key);
    expect([same.body.operationId, isReplay(same)]).toEqual([again.body.operationId, true]);
    expect(await made('Later')).toBe(1);
  }, 60_000);

  it('a batch of which a part may have been done is not written again', async () => {
    // Three calls: the batch is refused, then its first record, and the answer for its second record is lost.
    const name = 'Of a batch';
    const batch = [{ record: { name } }, { record: { name } }];
    await refuse(2);
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/companies',
      fault: { kind: 'reset-after' },
      times: 1,
    });
    const key = newKey();
    const body = { groupRef: 'acme', type: 'create', batch };
    const first = await write(body, key);
    expect(await acme.operation(first.body.operationId)).toMatchObject({ status: 'failure' });
    const before = await made(name);
    expect(before).toBeGreaterThan(0);
    const again = await write(body, key);
    expect([again.status, again.body.operationId, isReplay(again)]).toEqual([
      first.status,
      first.body.operationId,
      true,
    ]);
    expect(await made(name)).toBe(before);
  }, 60_000);

  it('belongs to a key, and says nothing else than true', async () => {
    expect(await write(create('No key'), undefined)).toMatchObject({
      status: 400,
      body: { issues: [{ in: 'header', name: 'retry-failed' }] },
    });
    const other = await platform.call<ProblemBody>(
      'POST',
      '/write/v1/projects/default/integrations/hubspot-crm/objects/companies',
      create('No key'),
      { headers: { 'idempotency-key': newKey(), 'retry-failed': 'yes' } },
    );
    expect(other).toMatchObject({ status: 400, body: { issues: [{ in: 'header', name: 'retry-failed' }] } });
    expect(await made('No key')).toBe(0);
  });

  it('a retry does not answer with what may still be taken back', async () => {
    const id = await idOf('Busy');
    const path = `/companies/${id}`;
    const update = (city: string, given = {}) => ({
      groupRef: 'acme',
      type: 'update',
      record: { id, city },
      ...given,
    });
    await fault(platform.hubspot, {
      method: 'PATCH',
      path,
      fault: { kind: 'status', status: 400 },
      times: 1,
    });
    const key = newKey();
    const first = (await write(update('again'), key)).body.operationId;
    await fault(platform.hubspot, { method: 'PATCH', path, fault: { kind: 'hang' }, times: 1 });
    await write(update('before', { mode: 'asynchronous' }), newKey());
    await expect
      .poll(async () => (await requestsOf(platform.hubspot)).some(({ body }) => body.includes('"before"')))
      .toBe(true);
    const waits = write(update('again'), key);
    await expect.poll(() => test.database.raw('SELECT FROM work WHERE state = 2')).toHaveLength(1);
    expect(await retry(first)).toMatchObject({ status: 409, body: { code: 'operation-in-progress' } });
    const filter = { groupRef: 'acme', object: 'companies' };
    const many = await platform.call<{ results: { operationId: string }[] }>(
      'POST',
      '/projects/default/operations:retry',
      { filter },
    );
    expect(many.body.results.find(({ operationId }) => operationId === first)).toEqual({
      operationId: first,
      refused: { code: 'operation-in-progress', detail: expect.stringContaining('taken back') as string },
    });
    expect((await waits).body.code).toBe('record-busy');
    const retried = await retry(first);
    expect([retried.status, isReplay(retried)]).toEqual([200, false]);
    expect(await acme.operation(retried.body.operationId)).toMatchObject({ retryOf: first });
    const same = await retry(first);
    expect([same.body.operationId, isReplay(same)]).toEqual([retried.body.operationId, true]);
  }, 60_000);
});
