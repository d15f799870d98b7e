import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  deploy,
  during,
  effects,
  fault,
  install,
  manifest,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

interface RecordBody {
  index: number;
  recordId?: string;
  success: boolean;
  errors: { category: string }[];
  resolution: string;
  resolvedBy?: string;
  resolvedAt?: string;
}
interface Links {
  retryOf?: string;
  retriedBy?: string;
}

describe('test/journeys/resolve', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const at = (id: string) => `/projects/default/operations/${id}`;
  const act = <Body = ProblemBody>(
    id: string,
    verb: string,
    body?: unknown,
    key?: string,
  ): Promise<Answer<Body>> =>
    platform.call('POST', `${at(id)}:${verb}`, body, key === undefined ? {} : { key });
  const resolve = (id: string, body: unknown) =>
    act<ProblemBody & { records: RecordBody[] }>(id, 'resolve', body);
  const retry = (id: string, body?: unknown) =>
    act<ProblemBody & { operationId: string; records: number[] }>(id, 'retry', body);
  const recordsOf = async (id: string): Promise<RecordBody[]> =>
    (await platform.call<{ results: RecordBody[] }>('GET', `${at(id)}/records`)).body.results;
  const made = async (name: string): Promise<number> =>
    (await effects(platform.hubspot, 'companies')).filter(
      ({ kind, fields }) => kind === 'create' && fields['name'] === name,
    ).length;

  /** A batch of companies, which no field tells apart, whose answer is lost. */
  async function lostBatch(names: string[]): Promise<string> {
    await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'reset-after' } });
    const lost = await acme.write('companies', {
      type: 'create',
      batch: names.map((name) => ({ record: { name }, reference: name })),
    });
    expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    return lost.body.operationId;
  }

  it('records of unknown outcome are resolved one by one or all at once, and the status stays', async () => {
    const id = await lostBatch(['r-a', 'r-b', 'r-c']);
    const before = await acme.operation(id);
    expect(before).toMatchObject({
      status: 'failure',
      counts: { total: 3, succeeded: 0, failed: 0, unknown: 3 },
    });
    const unresolved = async (): Promise<string[]> => {
      const path = '/projects/default/operations?unresolved=true&pageSize=100';
      const { body } = await platform.call<{ results: { id: string }[] }>('GET', path);
      return body.results.map((one) => one.id);
    };
    expect([before.unresolved, (await unresolved()).includes(id)]).toEqual([true, true]);
    const first = await resolve(id, {
      records: [
        { index: 0, resolution: 'applied', recordId: '4711' },
        { index: 2, resolution: 'notApplied' },
      ],
    });
    expect(first).toMatchObject({
      status: 200,
      body: {
        records: [
          { index: 0, recordId: '4711', success: true, resolution: 'applied' },
          { index: 2, success: false, resolution: 'notApplied' },
        ],
      },
    });
    expect((await recordsOf(id)).map(({ resolution }) => resolution)).toEqual([
      'applied',
      'unknown',
      'notApplied',
    ]);
    expect([(await acme.operation(id)).unresolved, (await unresolved()).includes(id)]).toEqual([true, true]);
    const rest = await resolve(id, { resolution: 'applied', recordId: '4712' });
    expect(await unresolved()).not.toContain(id);
    expect(rest.body.records.map(({ index, recordId }) => [index, recordId])).toContainEqual([1, '4712']);
    const [record] = await recordsOf(id);
    expect(record).toMatchObject({
      errors: [{ category: 'unknownOutcome' }],
      resolvedBy: expect.stringMatching(/^apiKey:/),
      resolvedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const after = await acme.operation(id);
    expect(after).toMatchObject({ status: 'failure', counts: before.counts!, result: before.result });
    expect(after.unresolved).toBeUndefined();
    expect(after.metadata?.successfulRecordIds).toEqual(['4711', '4712']);
    const logs = await platform.call<{ message: { msg: string; details: Record<string, string> } }[]>(
      'GET',
      `${at(id)}/logs`,
    );
    expect(logs.body.slice(-2).map(({ message }) => message)).toMatchObject([
      {
        msg: expect.stringMatching(/^\[companies\] 2 records of unknown outcome resolved by apiKey:/),
        details: { applied: '0', notApplied: '2' },
      },
      { msg: expect.stringContaining('1 record of'), details: { applied: '1' } },
    ]);
  });

  it('the same resolution again changes nothing, another is refused', async () => {
    const id = await lostBatch(['s-a', 's-b']);
    await resolve(id, { records: [{ index: 0, resolution: 'notApplied' }] });
    const [before] = await recordsOf(id);
    expect(await resolve(id, { records: [{ index: 0, resolution: 'notApplied' }] })).toMatchObject({
      status: 200,
      body: { records: [before] },
    });
    expect(
      await resolve(id, {
        records: [
          { index: 1, resolution: 'applied' },
          { index: 0, resolution: 'applied' },
        ],
      }),
    ).toMatchObject({
      status: 422,
      body: { code: 'outcome-known', issues: [{ in: 'body', name: 'records[1].index' }] },
    });
    expect((await recordsOf(id)).map(({ resolution }) => resolution)).toEqual(['notApplied', 'unknown']);
    expect((await resolve(id, { resolution: 'applied' })).body.records).toHaveLength(2);
    expect((await resolve(id, { resolution: 'applied' })).status).toBe(200);
    expect((await recordsOf(id)).map(({ resolution }) => resolution)).toEqual(['notApplied', 'applied']);
  });

  it('refuses what is not of unknown outcome, what is in progress, and what makes no sense', async () => {
    const done = await acme.write('companies', { type: 'create', record: { name: 'known' } });
    for (const body of [{ resolution: 'applied' }, { records: [{ index: 0, resolution: 'notApplied' }] }])
      expect(await resolve(done.body.operationId, body)).toMatchObject({
        status: 422,
        body: { code: 'outcome-known' },
      });
    const id = await lostBatch(['t-a', 't-b']);
    const cases: [unknown, string][] = [
      [{}, 'records'],
      [{ records: [] }, 'records'],
      [{ resolution: 'maybe' }, 'resolution'],
      [{ resolution: 'applied', records: [{ index: 0, resolution: 'applied' }] }, 'resolution'],
      [{ resolution: 'notApplied', recordId: '1' }, 'recordId'],
      [{ resolution: 'applied', recordId: '1' }, 'recordId'],
      [{ records: [{ index: 2, resolution: 'applied' }] }, 'records[0].index'],
      [{ records: [{ index: -1, resolution: 'applied' }] }, 'records[0].index'],
      [{ records: [{ index: 0, resolution: 'notApplied', recordId: '1' }] }, 'records[0].recordId'],
      [
        {
          records: [
            { index: 0, resolution: 'applied' },
            { index: 0, resolution: 'notApplied' },
          ],
        },
        'records[1].index',
      ],
      [{ resolution: 'applied', by: 'me' }, 'by'],
    ];
    for (const [body, name] of cases)
      expect([body, await resolve(id, body)]).toMatchObject([
        body,
        { status: 400, body: { issues: [{ in: 'body', name }] } },
      ]);
    expect((await recordsOf(id)).map(({ resolution }) => resolution)).toEqual(['unknown', 'unknown']);
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'delay', ms: 1_500 } });
    const slow = await acme.write('companies', {
      type: 'create',
      mode: 'asynchronous',
      record: { name: 'slow' },
    });
    const busy = { status: 409, body: { code: 'operation-in-progress', retryable: true } };
    expect(await resolve(slow.body.operationId, { resolution: 'applied' })).toMatchObject(busy);
    expect(await retry(slow.body.operationId)).toMatchObject(busy);
    await acme.settled(slow.body.operationId);
  });

  it('retry sends what was not done, once, in a new operation, and never what is unknown', async () => {
    const id = await lostBatch(['u-a', 'u-b', 'u-c']);
    await resolve(id, { records: [{ index: 1, resolution: 'applied' }] });
    expect(await retry(id)).toMatchObject({
      status: 422,
      body: { code: 'outcome-unresolved', records: [0, 2], detail: expect.stringContaining('0, 2') },
    });
    await resolve(id, { resolution: 'notApplied' });
    const all = await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    const ids = new Set(all.map(({ body }) => body.operationId));
    expect(ids.size).toBe(1);
    expect(all.filter(({ headers }) => headers.get('idempotent-replayed') !== 'true')).toHaveLength(1);
    const [newId = ''] = ids;
    const again = (await acme.settled(newId)) as OperationBody & Links;
    expect(again).toMatchObject({ status: 'success', retryOf: id, counts: { total: 2, succeeded: 2 } });
    expect(await acme.operation(id)).toMatchObject({ status: 'failure', retriedBy: newId });
    const references = await platform.call<{ results: { reference: string }[] }>(
      'GET',
      `${at(newId)}/records`,
    );
    expect(references.body.results.map(({ reference }) => reference)).toEqual(['u-a', 'u-c']);
    expect([await made('u-a'), await made('u-b'), await made('u-c')]).toEqual([2, 1, 2]);
    for (const written of [id, id.toUpperCase()])
      expect(await retry(written)).toMatchObject({ status: 200, body: { operationId: newId } });
    expect(await retry(newId)).toMatchObject({ status: 422, body: { code: 'nothing-to-retry' } });
  });

  it('retry sends what failed as it was planned, also when it fails again', async () => {
    const failed = await acme.write('companies', { type: 'update', record: { id: '99999999', name: 'v' } });
    expect(failed.status).toBe(422);
    const bad = await retry(failed.body.operationId, { retryPolicy: { deadlineHours: 49 } });
    expect(bad).toMatchObject({ status: 400, body: { issues: [{ name: 'retryPolicy.deadlineHours' }] } });
    const answer = await retry(failed.body.operationId, { retryPolicy: { deadlineHours: 2 } });
    expect(await acme.settled(answer.body.operationId)).toMatchObject({
      status: 'failure',
      errors: [{ index: 0, category: 'notFound' }],
      metadata: { retry: { attempts: 1, lastAttempt: expect.any(String) } },
    });
    const second = await retry(answer.body.operationId);
    expect(second.body.operationId).not.toBe(answer.body.operationId);
    await acme.settled(second.body.operationId);
  });

  it('retry needs the installation and a connection that works', async () => {
    const gone = await install(platform, 'hubspot-crm', 'gone');
    const failed = await gone.write('companies', { type: 'update', record: { id: '99999999', name: 'w' } });
    await platform.call(
      'DELETE',
      `/projects/default/integrations/hubspot-crm/installations/${gone.installationId}`,
    );
    expect(await retry(failed.body.operationId)).toMatchObject({
      status: 404,
      body: { code: 'installation-not-found' },
    });
  });

  it('retry goes to the account that it was planned for, and to no other', async () => {
    const moved = await install(platform, 'salesforce-crm', 'moved');
    const use = async (connectionId: string): Promise<void> => {
      const answer = await platform.call(
        'PATCH',
        `/projects/default/integrations/salesforce-crm/installations/${moved.installationId}`,
        { updateMask: ['connectionId'], installation: { connectionId } },
      );
      expect(answer.status).toBe(200);
    };
    const record = { id: '001000000000999AAA', Name: 'w' };
    const failed = await moved.write('Account', { type: 'update', record });
    expect(failed.status).toBe(422);
    await use(await connect(platform, 'salesforce', 'moved', { account: 'elsewhere' }));
    const { result: refused, requests } = await during(platform.salesforce, () =>
      retry(failed.body.operationId),
    );
    expect(refused).toMatchObject({ status: 409, body: { code: 'connection-changed', retryable: false } });
    expect(requests).toEqual([]);
    const many = await platform.call<{ results: { operationId: string; refused: ProblemBody }[] }>(
      'POST',
      '/projects/default/operations:retry',
      { filter: { groupRef: 'moved' } },
    );
    expect(many.body.results).toMatchObject([{ refused: { code: 'connection-changed' } }]);
    const colleagues = await connect(platform, 'salesforce', 'moved', { consumerRef: 'colleague' });
    expect(colleagues).not.toBe(moved.connectionId);
    await use(colleagues);
    const again = await retry(failed.body.operationId);
    expect(again.status).toBe(200);
    await moved.settled(again.body.operationId);
  });

  it('retry is held to the config and the manifest of now, as a new write is', async () => {
    const settings = { objectName: 'contacts', deletionSettings: { enabled: true } };
    const bound = await install(platform, 'hubspot-crm', 'bound', {
      write: { objects: { contacts: settings } },
    });
    const configure = async (contacts: Record<string, unknown>) => {
      const path = `/projects/default/integrations/hubspot-crm/installations/${bound.installationId}`;
      const content = { provider: 'hubspot', write: { objects: { contacts } } };
      const answer = await platform.call('PATCH', path, {
        updateMask: ['config.content.write.objects'],
        installation: { config: { content } },
      });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    };
    const created = await bound.write('contacts', { type: 'create', record: { email: 'bound@example.com' } });
    const id = created.body.result?.recordId;
    const refuseOnce = () =>
      fault(platform.hubspot, { path: `/contacts/${id}`, fault: { kind: 'status', status: 423 } });
    const changes = async (kind: string) =>
      (await effects(platform.hubspot, 'contacts')).filter((one) => one.id === id && one.kind === kind);

    await refuseOnce();
    const waiting = await bound.write('contacts', { type: 'delete', record: { id } });
    await refuseOnce();
    const removal = await bound.write('contacts', { type: 'delete', record: { id } });
    expect(removal).toMatchObject({ status: 422, body: { errors: [{ category: 'conflict' }] } });
    await refuseOnce();
    const record = { id, firstname: 'Ada', lastname: 'Lovelace', jobtitle: 'Countess' };
    const update = await bound.write('contacts', { type: 'update', record });
    expect(update.status).toBe(422);
    const status = { kind: 'status', status: 429, headers: { 'retry-after': '6' } };
    await fault(platform.hubspot, { path: `/contacts/${id}`, fault: status });
    const queued = await retry(waiting.body.operationId);
    const attempts = async () => (await bound.operation(queued.body.operationId)).metadata?.retry?.attempts;
    await expect.poll(attempts, { timeout: 10_000 }).toBe(1);
    await configure({
      objectName: 'contacts',
      selectedFieldSettings: {
        firstname: { writeOnUpdate: 'never' },
        jobtitle: { writeOnUpdate: 'ifEmpty' },
      },
    });
    expect(await retry(removal.body.operationId)).toMatchObject({
      status: 422,
      body: { code: 'delete-not-enabled' },
    });
    expect(await bound.settled(queued.body.operationId)).toMatchObject({
      status: 'failure',
      errors: [{ category: 'permission' }],
    });
    expect(await changes('delete')).toEqual([]);
    const named = () => bound.write('contacts', { type: 'update', record: { id, jobtitle: 'Analyst' } });
    await expect.poll(named, { timeout: 15_000, interval: 500 }).toMatchObject({ status: 200 });
    const again = await retry(update.body.operationId);
    expect(await bound.settled(again.body.operationId)).toMatchObject({ status: 'success' });
    expect((await changes('update')).at(-1)?.fields).toEqual({ lastname: 'Lovelace' });

    await refuseOnce();
    const last = await bound.write('contacts', { type: 'update', record: { id, lastname: 'King' } });
    await deploy(
      platform,
      manifest.replace(/        - objectName: contacts\n {10}inheritMapping: true\n/, ''),
    );
    const asNew = await bound.write('contacts', { type: 'update', record: { id, lastname: 'Byron' } });
    const retried = await retry(last.body.operationId);
    await deploy(platform);
    expect([retried.status, retried.body.code]).toEqual([asNew.status, asNew.body.code]);
  });

  it('only a key that may write reaches them, and one of another group finds nothing', async () => {
    const id = await lostBatch(['x-a']);
    const keyOf = async (given: Record<string, unknown>) =>
      (await platform.call<{ key: string }>('POST', '/projects/default/api-keys', { label: 'k', ...given }))
        .body.key;
    const notApplied = { resolution: 'notApplied' };
    for (const scope of ['read', 'proxy', 'frontend']) {
      const key = await keyOf({ scopes: [scope] });
      expect((await act(id, 'resolve', notApplied, key)).status).toBe(403);
      expect((await act(id, 'retry', undefined, key)).status).toBe(403);
    }
    const foreign = await keyOf({ scopes: ['write'], groupRef: 'globex' });
    expect((await act(id, 'resolve', notApplied, foreign)).status).toBe(404);
    expect((await act(id, 'retry', undefined, foreign)).status).toBe(404);
    const own = await keyOf({ scopes: ['write'], groupRef: 'acme' });
    expect((await act(id, 'resolve', notApplied, own)).status).toBe(200);
    const answer = await act<{ operationId: string }>(id, 'retry', undefined, own);
    expect(answer.status).toBe(200);
    await acme.settled(answer.body.operationId);
    for (const unknown of ['0192f0c1-0000-7000-8000-000000000000', 'nonsense']) {
      expect((await resolve(unknown, notApplied)).status).toBe(404);
      expect((await retry(unknown)).status).toBe(404);
    }
  });
});
