import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  companiesMade,
  deploy,
  effects,
  fault,
  install,
  type Customer,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

describe('test/journeys/idempotency', () => {
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
      write: {
        objects: { companies: { objectName: 'companies', deletionSettings: { enabled: true } } },
      },
    });
  });
  afterAll(async () => {
    await second?.stop();
    await platform?.stop();
    await test?.drop();
  });

  const newKey = (): string => `key-${++keys}`;
  /** A write of the customer acme, to either node. */
  const write = (
    body: Record<string, unknown>,
    key: string | undefined,
    { node = platform, object = 'companies', apiKey = undefined as string | undefined } = {},
  ): Promise<Answer<WriteBody>> =>
    node.call('POST', `/write/v1/projects/default/integrations/hubspot-crm/objects/${object}`, body, {
      headers: key === undefined ? {} : { 'idempotency-key': key },
      ...(apiKey === undefined ? {} : { key: apiKey }),
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

  /** The answers to the same request twice: the second is the first again, to the byte, and nothing happens for it. */
  async function twice(body: Record<string, unknown>): Promise<Answer<WriteBody>> {
    const key = newKey();
    const first = await write(body, key);
    if (body['mode'] === 'asynchronous') await acme.settled(first.body.operationId);
    const effectsBefore = await effects(platform.hubspot);
    const before = await operations();
    const again = await write(body, key, { node: second });
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await effects(platform.hubspot)).toEqual(effectsBefore);
    expect(await operations()).toBe(before);
    return first;
  }

  it('fifty requests at once with one key, on two nodes, are one operation', async () => {
    const body = create('fifty', { mode: 'asynchronous' });
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) => write(body, 'fifty', { node: n % 2 ? second : platform })),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.filter((one) => !isReplay(one))).toHaveLength(1);
    await acme.settled(all[0]!.body.operationId);
    expect(await made('fifty')).toBe(1);
  });

  it('a key under another name is refused, and nothing is written', async () => {
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/companies';
    const misnamed = await platform.call<ProblemBody>('POST', path, create('Misnamed'), {
      headers: { 'x-idempotency-key': newKey() },
    });
    expect(misnamed).toMatchObject({
      status: 400,
      body: { issues: [{ in: 'header', name: 'x-idempotency-key' }] },
    });
    const inBody = await platform.call<ProblemBody>('POST', path, {
      ...create('Misnamed'),
      idempotencyKey: newKey(),
      name: 'Misnamed',
    });
    expect(inBody.body.issues?.map(({ detail }) => detail).toSorted()).toEqual([
      'belongs in the header `idempotency-key`',
      'is not a known property here; "record" takes fields of any name',
    ]);
    expect(await made('Misnamed')).toBe(0);
  });

  it('synchronous ones at once are sent once: the others wait and ask again', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/companies',
      fault: { kind: 'delay', ms: 300 },
    });
    const body = create('at once');
    const key = newKey();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => write(body, key, { node: n % 2 ? second : platform })),
    );
    const done = all.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const one of all.filter(({ status }) => status !== 200)) {
      expect(one).toMatchObject({
        status: 409,
        body: {
          code: 'idempotency-key-in-flight',
          retryable: true,
          operationId: done[0]!.body.operationId,
          retryAfter: expect.any(String),
        },
      });
      expect(one.headers.get('retry-after')).toBe('1');
    }
    const later = await write(body, key);
    expect([later.text, isReplay(later)]).toEqual([done[0]!.text, true]);
    expect(await made('at once')).toBe(1);
  });

  it('an answer is repeated with status and body, whatever it was', async () => {
    const single = await twice(create('single'));
    expect(single).toMatchObject({
      status: 200,
      body: { result: { success: true, data: expect.any(Object) } },
    });
    const id = single.body.result?.recordId;
    const bad = await twice(create('bad', { record: { name: 'bad', nope: 1 } }));
    expect(bad).toMatchObject({ status: 422, body: { result: { success: false } } });
    const batch = await twice({
      groupRef: 'acme',
      type: 'update',
      batch: [
        { record: { id, city: 'Paris' }, reference: 'a' },
        { record: { id: '99999999', city: 'Rome' }, reference: 'b' },
      ],
    });
    expect(batch).toMatchObject({ status: 200, body: { successCount: 1, failureCount: 1 } });
    const allOrNone = { batchPolicy: { allOrNone: true } };
    await twice({ groupRef: 'acme', type: 'create', batch: [{ record: { nope: 1 } }], ...allOrNone });
    const gone = await twice({ groupRef: 'acme', type: 'delete', record: { id } });
    expect(gone).toMatchObject({ status: 200, body: { result: { recordId: id } } });
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' } });
    const lost = await twice(create('lost'));
    expect(lost).toMatchObject({ status: 502, body: { code: 'outcome-unknown' } });
    expect(await made('lost')).toBe(1);
    const queued = await twice(create('queued', { mode: 'asynchronous' }));
    expect(Object.keys(queued.body)).toEqual(['operationId']);
  });

  it('auto-batched with one key, a record joins its batch once', async () => {
    const policy = { mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 } };
    const [same, other] = [create('gathered', policy), create('beside', policy)];
    const key = newKey();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => write(same, key, { node: n % 2 ? second : platform })),
    );
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.filter((one) => !isReplay(one))).toHaveLength(1);
    const id = all[0]!.body.operationId;
    expect(await write(same, key, { node: second })).toMatchObject({
      status: 200,
      body: { operationId: id },
    });
    expect((await write(other, newKey())).body.operationId).toBe(id);
    expect(await write(other, key)).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } });
    await test.database.raw(`UPDATE clock SET shift = shift + '61 seconds'`);
    expect(await acme.settled(id)).toMatchObject({ status: 'success', counts: { total: 2, succeeded: 2 } });
    expect(isReplay(await write(same, key))).toBe(true);
    expect([await made('gathered'), await made('beside')]).toEqual([1, 1]);
  });

  it('refuses another request under the key: body, path and bytes count', async () => {
    const key = newKey();
    const { body } = await write(create('same'), key);
    const others = [
      await write(create('other'), key),
      await write(create('same'), key, { object: 'contacts' }),
      await platform.call(
        'POST',
        '/write/v1/projects/default/integrations/hubspot-crm/objects/companies',
        ` ${JSON.stringify(create('same'))}`,
        { headers: { 'idempotency-key': key, 'content-type': 'application/json' } },
      ),
    ];
    for (const other of others) {
      expect(other).toMatchObject({
        status: 422,
        body: { code: 'idempotency-key-reused', retryable: false, operationId: body.operationId },
      });
    }
    expect([await made('same'), await made('other')]).toEqual([1, 0]);
  });

  it('a request that is refused before anything was accepted leaves the key free', async () => {
    const key = newKey();
    const refused = [
      await write({ groupRef: 'acme', type: 'update', record: { name: 'no id' } }, key),
      await write(create('x', { groupRef: 'nobody' }), key),
      await write(create('x', { associations: [] as unknown[], mode: 'no' }), key),
      await write(create('x'), key, { object: 'unheard-of' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 404, 400, 404]);
    const done = await write(create('free'), key);
    expect([done.status, isReplay(done)]).toEqual([200, false]);
  });

  it('the header must be 1 to 255 visible ASCII characters', async () => {
    for (const key of ['', 'a b', 'é', 'x'.repeat(256)]) {
      expect(await write(create('header'), key)).toMatchObject({
        status: 400,
        body: { issues: [{ in: 'header', name: 'idempotency-key' }] },
      });
    }
    expect(await made('header')).toBe(0);
    const long = '!'.repeat(254) + '~';
    expect(await write(create('header'), long)).toMatchObject({ status: 200 });
    expect(isReplay(await write(create('header'), long))).toBe(true);
  });

  it('a dry run neither uses a key nor needs it free', async () => {
    const key = newKey();
    for (let n = 0; n < 2; n++) {
      const dry = await write(create('dry', { dryRun: true }), key);
      expect([dry.status, isReplay(dry), dry.body.operationId]).toEqual([200, false, undefined]);
    }
    expect(await write(create('dry'), key)).toMatchObject({ status: 200 });
    expect(await write(create('dry', { dryRun: true }), key)).toMatchObject({ status: 200 });
    expect(await made('dry')).toBe(1);
  });

  it('the same key of another API key or project is another one', async () => {
    const key = newKey();
    const own = await write(create('whose'), key);
    const { body: fresh } = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'other',
      scopes: ['write'],
    });
    const other = await write(create('whose'), key, { apiKey: fresh.key });
    expect([other.status, isReplay(other)]).toEqual([200, false]);
    expect(other.body.operationId).not.toBe(own.body.operationId);

    const project = await platform.call<{ id: string; apiKey: { key: string } }>('POST', '/projects', {
      name: 'second',
    });
    const apiKey = project.body.apiKey.key;
    const there: Platform = {
      ...platform,
      projectId: project.body.id,
      call: (method, path, body, options) => platform.call(method, path, body, { key: apiKey, ...options }),
    };
    await deploy(there);
    const globex = await install(there, 'hubspot-crm', 'acme');
    const elsewhere = await globex.write('companies', create('whose'), {
      headers: { 'idempotency-key': key },
    });
    expect([elsewhere.status, isReplay(elsewhere)]).toEqual([200, false]);
    expect(await made('whose')).toBe(3);
  });

  it('what was accepted is answered again though it would be refused by now', async () => {
    const late = await install(platform, 'hubspot-crm', 'late');
    const body = create('late', { groupRef: 'late' });
    const first = await write(body, 'late');
    await platform.call(
      'DELETE',
      `/projects/default/integrations/hubspot-crm/installations/${late.installationId}`,
    );
    expect(await write(body, undefined)).toMatchObject({ status: 404 });
    const again = await write(body, 'late');
    expect([again.status, again.text, isReplay(again)]).toEqual([200, first.text, true]);
  });

  it('every key belongs to an operation that exists', async () => {
    const key = newKey();
    const { operationId } = (await write(create('with a key'), key)).body;
    const kept = await test.database.raw(
      `SELECT d.key, d.operation_id, o.id FROM idempotency d
        LEFT JOIN operation o ON o.project_id = d.project_id AND o.id = d.operation_id
        WHERE principal <> 'ballast'`,
    );
    expect(kept.filter(({ id }) => id === operationId)).toMatchObject([{ operation_id: operationId }]);
    expect(kept.filter(({ id }) => id === null)).toEqual([]);
  });

  /** The answer to a write of which nothing is kept any more. */
  const goneOf = (operationId: string) => ({
    status: 410,
    body: {
      code: 'operation-erased',
      retryable: false,
      operationId,
      detail: expect.stringContaining('accepted'),
    },
  });
  const autoBatch = { mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 } };

  it('says of a write that was erased that it was accepted, and does not look like a refusal', async () => {
    const gone = await install(platform, 'hubspot-crm', 'gone');
    const bodies = [
      create('erased', { groupRef: 'gone' }),
      create('erased queued', { groupRef: 'gone', mode: 'asynchronous' }),
      create('erased gathered', { groupRef: 'gone', ...autoBatch }),
    ];
    const keyOf = (n: number): string => `erased-${n}`;
    const first = [];
    for (const [n, body] of bodies.entries()) first.push((await write(body, keyOf(n))).body.operationId);
    await test.database.raw(`UPDATE clock SET shift = shift + '61 seconds'`);
    for (const id of first) await gone.settled(id);
    const erasures = '/projects/default/erasures';
    const { id } = (await platform.call<{ id: string }>('POST', erasures, { groupRef: 'gone' })).body;
    await expect
      .poll(async () => (await platform.call<{ status: string }>('GET', `${erasures}/${id}`)).body.status, {
        timeout: 20_000,
      })
      .toBe('done');
    for (const [n, body] of bodies.entries())
      expect(await write(body, keyOf(n), { node: second })).toMatchObject(goneOf(first[n]!));
    await platform.call(
      'DELETE',
      `/projects/default/integrations/hubspot-crm/installations/${gone.installationId}`,
    );
    expect(await write(bodies[0]!, keyOf(0))).toMatchObject(goneOf(first[0]!));
    expect([await made('erased'), await made('erased queued'), await made('erased gathered')]).toEqual([
      1, 1, 1,
    ]);
  }, 60_000);

  it('says so of a write that the project does not want kept any more, unless its answer is', async () => {
    const keep = (days: object) =>
      platform.call('PATCH', '/projects/default', { updateMask: ['keepDays'], project: { keepDays: days } });
    const [queued, single] = [create('brief queued', { mode: 'asynchronous' }), create('brief')];
    const { operationId } = (await write(queued, 'brief-queued')).body;
    await acme.settled(operationId);
    const first = await write(single, 'brief');
    await keep({ operations: 1 });
    await test.database.raw(`UPDATE clock SET shift = shift + '2 days'`);
    expect(await write(queued, 'brief-queued')).toMatchObject(goneOf(operationId));
    expect((await write(single, 'brief')).text).toBe(first.text);
    await keep({});
    expect([await made('brief queued'), await made('brief')]).toEqual([1, 1]);
  });

  it('after seven days by the clock of the database the key is free', async () => {
    const key = newKey();
    const body = create('week');
    const first = await write(body, key);
    await test.database.raw(`UPDATE clock SET shift = shift + '6 days 23 hours'`);
    expect((await write(body, key)).text).toBe(first.text);
    await test.database.raw(`UPDATE clock SET shift = shift + '2 hours'`);
    const again = await write(create('week later'), key);
    expect([again.status, isReplay(again)]).toEqual([200, false]);
    expect([await made('week'), await made('week later')]).toEqual([1, 1]);
  });
});
