import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Svc } from '../../ui/client/src/index.ts';
import {
  deploy,
  effects,
  fault,
  install,
  simulator,
  type Customer,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

/** A request whose key stands for a write of unknown outcome, once somebody has said what became of it. */
describe('test/journeys/repeat-resolved', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  let keys = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme', {
      write: {
        objects: {
          contacts: { objectName: 'contacts' },
          companies: { objectName: 'companies', deletionSettings: { enabled: true } },
        },
      },
    });
  }, 120_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const newKey = (): string => `key-${++keys}`;
  const write = (
    body: Record<string, unknown>,
    key: string,
    { object = 'companies', again = false } = {},
  ): Promise<Answer<WriteBody & ProblemBody>> =>
    platform.call(
      'POST',
      `/write/v1/projects/default/integrations/hubspot-crm/objects/${object}`,
      { groupRef: 'acme', ...body },
      { headers: { 'idempotency-key': key, ...(again ? { 'retry-failed': 'true' } : {}) } },
    );
  const resolve = (operationId: string, body: Record<string, unknown>): Promise<Answer<unknown>> =>
    platform.call('POST', `/projects/default/operations/${operationId}:resolve`, body);
  const lose = (method: string, path: string, given: Record<string, unknown> = {}): Promise<unknown> =>
    fault(platform.hubspot, { method, path, fault: { kind: 'reset-after' }, times: 1, ...given });
  const isReplay = ({ headers }: Answer<unknown>): boolean => headers.get('idempotent-replayed') === 'true';
  const written = async (kind: string): Promise<number> =>
    (await effects(platform.hubspot, 'companies')).filter((one) => one.kind === kind).length;
  const company = async (): Promise<string> => {
    const { body } = await write({ type: 'create', record: { name: 'There' } }, newKey());
    return body.result?.recordId ?? '';
  };

  it.each(['create', 'update', 'delete'])(
    'says of one that was applied that it was done: %s',
    async (type) => {
      const id = type === 'create' ? undefined : await company();
      const method = { create: 'POST', update: 'PATCH', delete: 'DELETE' }[type] ?? '';
      await lose(method, id === undefined ? '/companies' : `/companies/${id}`);
      const fields = type === 'delete' ? {} : { name: 'Lost' };
      const body = { type, record: { ...(id === undefined ? {} : { id }), ...fields } };
      const key = newKey();
      const lost = await write(body, key);
      expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
      const { operationId } = lost.body;
      const named = id === undefined ? { recordId: '4711' } : {};
      await resolve(operationId, { records: [{ index: 0, resolution: 'applied', ...named }] });
      const before = await written(type);
      for (const again of [false, true]) {
        const answer = await write(body, key, { again });
        expect([answer.status, isReplay(answer)]).toEqual([200, true]);
        expect(answer.body).toEqual({ operationId, result: { success: true, recordId: id ?? '4711' } });
      }
      expect(await written(type)).toBe(before);
    },
  );

  it('says of an upsert that was applied that it was done', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      contains: 'lost@example.com',
      fault: { kind: 'reset-before' },
      times: 20,
    });
    const body = { type: 'upsert', upsertBy: 'email', record: { email: 'lost@example.com' } };
    const key = newKey();
    const lost = await write(body, key, { object: 'contacts' });
    expect(lost.body).toMatchObject({ category: 'unknownOutcome' });
    const { operationId } = lost.body;
    await test.database.raw("UPDATE clock SET shift = shift + interval '2 hours'");
    expect(await acme.settled(operationId)).toMatchObject({ status: 'failure', counts: { unknown: 1 } });
    await simulator(platform.hubspot, 'DELETE', '/faults');
    await resolve(operationId, { resolution: 'applied', recordId: '4711' });
    const answer = await write(body, key, { object: 'contacts' });
    expect([answer.status, isReplay(answer)]).toEqual([200, true]);
    expect(answer.body).toEqual({ operationId, result: { success: true, recordId: '4711' } });
  }, 60_000);

  it('says of one that was not applied that nothing was done, and how it is written again', async () => {
    const id = await company();
    await lose('PATCH', `/companies/${id}`);
    const body = { type: 'update', record: { id, name: 'Not there' } };
    const key = newKey();
    const { operationId } = (await write(body, key)).body;
    await resolve(operationId, { resolution: 'notApplied' });
    const answer = await write(body, key);
    expect([answer.status, isReplay(answer)]).toEqual([502, true]);
    expect(answer.body).toMatchObject({
      code: 'provider-unreachable',
      retryable: true,
      operationId,
      detail: expect.stringMatching(/nothing was written: apiKey:\S+ resolved it as notApplied/) as string,
      remedy: expect.stringContaining('`Retry-Failed: true`') as string,
    });
    const done = await write(body, key, { again: true });
    expect([done.status, isReplay(done)]).toEqual([200, false]);
    expect(await acme.operation(operationId)).toMatchObject({ retriedBy: done.body.operationId });
  });

  it('tells each record of a batch as it stands', async () => {
    // Three calls: the batch is refused, then its first record, and the answer for its second record is lost.
    const refused = { kind: 'status', status: 400 };
    await lose('POST', '/companies', { fault: refused, times: 2 });
    await lose('POST', '/companies');
    const batch = [
      { record: { name: 'Of a batch' }, reference: 'a' },
      { record: { name: 'Of a batch' }, reference: 'b' },
    ];
    const body = { type: 'create', batch };
    const key = newKey();
    const lost = await write(body, key);
    expect(lost).toMatchObject({ status: 422, body: { successCount: 0 } });
    const { operationId } = lost.body;
    await resolve(operationId, { records: [{ index: 1, resolution: 'applied', recordId: '4711' }] });
    const before = await written('create');
    for (const again of [false, true]) {
      const answer = await write(body, key, { again });
      expect([answer.status, isReplay(answer)]).toEqual([200, true]);
      expect(answer.body).toMatchObject({
        operationId,
        successCount: 1,
        failureCount: 1,
        results: [
          { success: false, reference: 'a', errors: [{ category: 'validation' }] },
          { success: true, reference: 'b', recordId: '4711' },
        ],
      });
    }
    expect(await written('create')).toBe(before);
  });

  it('leaves the records of a batch unknown of which nobody has said anything', async () => {
    await lose('POST', '/companies');
    const body = { type: 'create', batch: [{ record: { name: 'One' } }, { record: { name: 'Two' } }] };
    const key = newKey();
    const { operationId } = (await write(body, key)).body;
    await resolve(operationId, { records: [{ index: 1, resolution: 'notApplied' }] });
    expect(await write(body, key)).toMatchObject({
      status: 422,
      body: {
        successCount: 0,
        results: [
          { errors: [{ category: 'unknownOutcome', retryable: false }] },
          { errors: [{ category: 'providerDown', retryable: true }] },
        ],
      },
    });
    await resolve(operationId, { records: [{ index: 0, resolution: 'applied', recordId: '1' }] });
    expect(await write(body, key)).toMatchObject({ status: 200, body: { successCount: 1 } });
  });

  it('@svc/client returns what was applied, and writes by itself what was not', async () => {
    const { base: baseUrl, apiKey } = platform;
    const svc = new Svc({ baseUrl, project: 'default', apiKey, retries: 0 });
    const to = { integration: 'hubspot-crm', object: 'companies', groupRef: 'acme', type: 'create' } as const;
    for (const resolution of ['applied', 'notApplied'] as const) {
      await lose('POST', '/companies');
      const key = { idempotencyKey: newKey() };
      const record = { name: resolution };
      const lost = await svc.write({ ...to, record }, key).catch((error: unknown) => error);
      expect(lost).toMatchObject({ code: 'outcome-unknown' });
      const { operationId } = lost as { operationId: string };
      await resolve(operationId, { resolution });
      const done = await svc.write({ ...to, record }, key);
      expect(done.result.success).toBe(true);
      expect(done.operationId === operationId).toBe(resolution === 'applied');
    }
  });
});
