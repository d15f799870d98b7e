import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  effects,
  fault,
  install,
  simulator,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface RecordBody {
  index: number;
  success: boolean;
  recordId?: string;
  resolution: string;
  lookedUpBy?: string;
}

describe('test/journeys/write-unknown', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  const nodes: Platform[] = [];
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_LEASE_MS: '2000', SVC_PROVIDER_CALL_MS: '1500' },
    });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterEach(async () => {
    await simulator(platform.hubspot, 'DELETE', '/faults');
  });
  afterAll(async () => {
    for (const node of nodes) await node.stop();
    await platform?.stop();
    await test?.drop();
  });

  const contact = () => ({ email: `u${++count}@example.com`, firstname: `U${count}` });
  const company = () => ({ name: `Company ${++count}` });
  const lose = (kind: string, more: Record<string, unknown> = {}) =>
    fault(platform.hubspot, { method: 'POST', path: '/objects/co', fault: { kind }, ...more });
  const creates = async (value: string): Promise<{ id: string }[]> =>
    (await effects(platform.hubspot)).filter(
      ({ kind, fields }) => kind === 'create' && Object.values(fields).includes(value),
    );
  const recordsOf = async (operationId: string): Promise<RecordBody[]> => {
    const path = `/projects/default/operations/${operationId}/records`;
    return (await platform.call<{ results: RecordBody[] }>('GET', path)).body.results;
  };
  const later = (interval: string) =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
  const logsOf = async (operationId: string) => {
    const path = `/projects/default/operations/${operationId}/logs`;
    return (await platform.call<{ message: { details: Record<string, string> } }[]>('GET', path)).body;
  };

  it('a synchronous create whose answer is lost is found by its unique value, and succeeds', async () => {
    await lose('reset-after');
    const record = contact();
    const answer = await customer.write('contacts', { type: 'create', record });
    expect(answer).toMatchObject({
      status: 200,
      body: { result: { success: true, recordId: expect.any(String), data: record } },
    });
    const { operationId, result } = answer.body;
    expect(await creates(record.email)).toMatchObject([{ id: result?.recordId }]);
    expect(await recordsOf(operationId)).toMatchObject([
      { success: true, recordId: result?.recordId, resolution: 'applied', lookedUpBy: 'email' },
    ]);
    expect((await logsOf(operationId)).at(-1)?.message.details).toMatchObject({
      lookedUpBy: 'email',
      resolved: '1',
    });
  });

  it('one that is not there is unknown, and in progress, until it can no longer come', async () => {
    const rules = { 'reset-before': {}, late: { fault: { kind: 'late', ms: 8_000 } } };
    for (const [kind, rule] of Object.entries(rules)) {
      await lose(kind, rule);
      const record = contact();
      const key = { headers: { 'idempotency-key': `absent-${kind}` } };
      const answer = await customer.write<ProblemBody & { operationId: string }>(
        'contacts',
        { type: 'create', record },
        key,
      );
      expect(answer.body).toMatchObject({ category: 'unknownOutcome', retryable: false });
      expect(answer.headers.get('retry-after')).toBeNull();
      const { operationId } = answer.body;
      const waiting = await customer.operation(operationId);
      expect(waiting).toMatchObject({
        status: 'in_progress',
        errors: [{ category: 'unknownOutcome', retryable: false }],
        metadata: { retry: { nextAttempt: expect.any(String) } },
      });
      const isLate = kind === 'late';
      await expect.poll(() => creates(record.email), { timeout: 10_000 }).toHaveLength(isLate ? 1 : 0);
      await later('2 minutes');
      expect(await customer.settled(operationId)).toMatchObject({
        status: isLate ? 'success' : 'failure',
        counts: { succeeded: isLate ? 1 : 0, failed: isLate ? 0 : 1, unknown: 0 },
      });
      expect(await creates(record.email)).toHaveLength(isLate ? 1 : 0);
      const replayed = await customer.write<ProblemBody>('contacts', { type: 'create', record }, key);
      expect(replayed).toMatchObject(
        isLate
          ? { status: 200, body: { operationId, result: { success: true } } }
          : { status: 502, body: { code: 'provider-unreachable', retryable: true } },
      );
    }
  });

  it('one that would have been refused as a duplicate is that refusal, with the id of the other', async () => {
    const record = contact();
    const first = await customer.write('contacts', { type: 'create', record });
    const existingRecordId = first.body.result?.recordId;
    await simulator(platform.hubspot, 'POST', '/clock', { advanceMs: 30_000 });
    for (const isLost of [true, false]) {
      if (isLost) await lose('reset-after');
      const answer = await customer.write('contacts', { type: 'create', record });
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: [{ category: 'conflict', retryable: false, existingRecordId }] },
      });
      expect(await customer.operation(answer.body.operationId)).toMatchObject({
        errors: [{ category: 'conflict', existingRecordId }],
      });
    }
  });

  it('one that may not be looked for says what the provider says of that', async () => {
    const message = 'the scope crm.objects.contacts.read is missing';
    for (const mode of ['synchronous', 'asynchronous']) {
      await lose('reset-after');
      await fault(platform.hubspot, {
        path: '/batch/read',
        times: 10,
        fault: {
          kind: 'status',
          status: 403,
          body: { status: 'error', category: 'MISSING_SCOPES', message },
        },
      });
      const answer = await customer.write<ProblemBody>('contacts', {
        type: 'create',
        mode,
        record: contact(),
      });
      const ended = await customer.settled(answer.body.operationId ?? '');
      expect(ended).toMatchObject({
        status: 'failure',
        errors: [{ category: 'unknownOutcome', message: expect.stringContaining(message) }],
      });
      const told = mode === 'synchronous' ? answer.body : { detail: message, provider: { status: 403 } };
      expect(told.detail).toContain(message);
      expect(told.provider).toMatchObject({ status: 403 });
      await simulator(platform.hubspot, 'DELETE', '/faults');
    }
  });

  it('an asynchronous create is found in the same attempt, or sent again once it is known not to be there', async () => {
    for (const [kind, attempts] of [
      ['reset-after', 1],
      ['reset-before', 2],
    ] as const) {
      await lose(kind);
      const record = contact();
      const taken = await customer.write('contacts', { type: 'create', mode: 'asynchronous', record });
      expect(await customer.settled(taken.body.operationId)).toMatchObject({
        status: 'success',
        metadata: { retry: { attempts } },
      });
      expect(await creates(record.email)).toHaveLength(1);
    }
  });

  it('onUnknown: retry sends again what no unique field can find, and may make a duplicate', async () => {
    const record = company();
    await lose('reset-after');
    const taken = await customer.write('companies', {
      type: 'create',
      mode: 'asynchronous',
      onUnknown: 'retry',
      record,
    });
    expect(await customer.settled(taken.body.operationId)).toMatchObject({ status: 'success' });
    expect(await creates(record.name)).toHaveLength(2);
  });

  it('of a lost batch every record gets its own outcome, and what is not there is sent again', async () => {
    const records = [contact(), { ...contact(), nosuch: 'x' }, contact()];
    await lose('reset-after', { path: '/batch/create' });
    const taken = await customer.write('contacts', {
      type: 'create',
      mode: 'asynchronous',
      batch: records.map((record) => ({ record })),
    });
    const done = await customer.settled(taken.body.operationId);
    expect(done).toMatchObject({
      status: 'success',
      counts: { succeeded: 2, failed: 1, unknown: 0 },
      errors: [{ index: 1, category: 'validation' }],
    });
    for (const record of [records[0]!, records[2]!]) expect(await creates(record.email)).toHaveLength(1);
  });

  /** Another node, which dies at the crash point if there is one, and the customer as that node sees it. */
  async function anotherNode(
    env: Record<string, string>,
  ): Promise<{ node: Platform; write: Customer['write'] }> {
    const node = await startPlatform({ databaseUrl: test.url, beside: platform, env });
    nodes.push(node);
    return {
      node,
      write: (object, body, options) =>
        node.call(
          'POST',
          `/write/v1/projects/${platform.projectId}/integrations/hubspot-crm/objects/${object}`,
          { groupRef: 'acme', ...body },
          options,
        ),
    };
  }

  it.each([
    ['was done', 'delay', { status: 'success', counts: { succeeded: 1 } }],
    ['never arrived', 'reset-before', { status: 'failure', counts: { failed: 1, unknown: 0 } }],
  ] as const)(
    'a synchronous create that %s and whose node died before it recorded the answer is looked for by another node, not sent again',
    async (_what, kind, expected) => {
      const { write } = await anotherNode({ SVC_LEASE_MS: '2000', SVC_CRASH_AT: 'before-record:1' });
      await lose(kind, kind === 'delay' ? { fault: { kind, ms: 10 } } : {});
      const record = contact();
      const { requests } = await during(platform.hubspot, async () => {
        await expect(write('contacts', { type: 'create', record })).rejects.toThrow('not answered');
        if (kind === 'reset-before') await untilItCannotCome();
        await expect.poll(async () => (await newest()).status, { timeout: 25_000 }).not.toBe('in_progress');
      });
      expect(await newest()).toMatchObject(expected);
      expect(
        requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/contacts')),
      ).toHaveLength(1);
    },
    90_000,
  );

  /** What was not found is looked for once more when it can no longer come. */
  async function untilItCannotCome(): Promise<void> {
    const nextAttempt = async () => (await newest()).metadata?.retry?.nextAttempt;
    await expect.poll(nextAttempt, { timeout: 25_000 }).toEqual(expect.any(String));
    expect(await newest()).toMatchObject({ status: 'in_progress' });
    await later('2 minutes');
  }

  async function newest(): Promise<OperationBody> {
    const { integration, installationId } = customer;
    const path = `/projects/${platform.projectId}/integrations/${integration}/installations/${installationId}/operations`;
    const { body } = await platform.call<{ results: OperationBody[] }>('GET', `${path}?pageSize=1`);
    return body.results[0]!;
  }

  it('a synchronous create that another node finds while its own looks for it is told as done by both', async () => {
    // Long, so that it does not notice that its lane is gone.
    const { node, write } = await anotherNode({ SVC_LEASE_MS: '30000' });
    await lose('reset-after');
    await fault(platform.hubspot, { path: '/contacts/batch/read', fault: { kind: 'delay', ms: 3_500 } });
    const record = contact();
    const answer = write('contacts', { type: 'create', record });
    await expect.poll(() => creates(record.email)).toHaveLength(1);
    await later('31 seconds');
    const [{ id } = { id: '' }] = await creates(record.email);
    expect(await answer).toMatchObject({ status: 200, body: { result: { success: true, recordId: id } } });
    const { operationId } = (await answer).body;
    expect(await customer.settled(operationId)).toMatchObject({ status: 'success' });
    expect(await recordsOf(operationId)).toMatchObject([
      { success: true, recordId: id, lookedUpBy: 'email' },
    ]);
    await node.stop();
  });

  it('the asynchronous work of a dead node is settled, and sent again where that is safe', async () => {
    const id = (await customer.write('contacts', { type: 'create', record: contact() })).body.result
      ?.recordId;
    const writes: [Record<string, unknown>, number][] = [
      [{ type: 'create', record: contact() }, 1],
      [{ type: 'update', record: { id, firstname: 'Grace' } }, 2],
    ];
    for (const [write, sent] of writes) {
      const dying = await anotherNode({ SVC_LEASE_MS: '2000', SVC_CRASH_AT: 'after-send:1' });
      // Only the node that is to die may take the work.
      platform.process().kill('SIGSTOP');
      const taken = await dying.write('contacts', { mode: 'asynchronous', ...write });
      await expect.poll(() => dying.node.process().signalCode, { timeout: 10_000 }).toBe('SIGKILL');
      platform.process().kill('SIGCONT');
      const { operationId } = taken.body;
      expect(await customer.settled(operationId)).toMatchObject({ status: 'success' });
      const kind = String(write['type']);
      const [value] = Object.values(write['record'] as object).slice(-1);
      const done = (await effects(platform.hubspot)).filter(
        (one) => one.kind === kind && Object.values(one.fields ?? {}).includes(value),
      );
      expect(done).toHaveLength(sent);
    }
  }, 90_000);
});
