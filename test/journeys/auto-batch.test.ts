import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  fault,
  install,
  type Customer,
  type OperationBody,
  type SimulatorRequest,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/auto-batch', () => {
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  let group = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url });
    await deploy(first);
    second = await startPlatform({ databaseUrl: test.url, beside: first });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await test?.drop();
  });

  const customer = (): Promise<Customer> => install(first, 'hubspot-crm', `ab-${++group}`);
  const gather = (
    node: Platform,
    { groupRef }: Customer,
    body: Record<string, unknown>,
    headers?: Record<string, string>,
  ) =>
    node.call<{ operationId: string }>(
      'POST',
      '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      { groupRef, type: 'create', mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 }, ...body },
      headers ? { headers } : {},
    );
  const named = (name: string): Record<string, unknown> => ({ record: { email: `${name}@example.com` } });
  const later = (interval: string) =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
  const writes = (requests: readonly SimulatorRequest[]): SimulatorRequest[] =>
    requests.filter(({ method, path }) => method !== 'GET' && path.includes('/objects/contacts'));
  interface RecordBody {
    index: number;
    success?: boolean;
    recordId?: string;
    resolution: string;
    errors: { category: string; message: string }[];
  }
  const recordsOf = async (id: string): Promise<RecordBody[]> =>
    (await first.call<{ results: RecordBody[] }>('GET', `/projects/default/operations/${id}/records`)).body
      .results;

  it('§4.2.6, §8 100 requests spread over two nodes are one batch, which leaves at once in one call', async () => {
    const at = await customer();
    const { result, requests } = await during(first.hubspot, async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) => gather(n % 2 ? first : second, at, named(`hundred-${n}`))),
      );
      const ids = new Set(answers.map(({ body }) => body.operationId));
      const [id = ''] = ids;
      return { statuses: new Set(answers.map(({ status }) => status)), ids, ended: await at.settled(id) };
    });
    expect([...result.statuses]).toEqual([200]);
    expect(result.ids.size).toBe(1);
    expect(result.ended).toMatchObject({
      status: 'success',
      actionType: 'write',
      counts: { total: 100, succeeded: 100, failed: 0, unknown: 0 },
    });
    expect(writes(requests).filter(({ body }) => body.includes('hundred-'))).toHaveLength(1);
  });

  it('§3, §4.3 the master operation is in progress while it gathers, and tells every record in the end', async () => {
    const at = await customer();
    const { body } = await gather(first, at, named('gather-0'));
    await gather(second, at, { record: { email: 'gather-0@example.com' } });
    await gather(first, at, named('gather-2'));
    expect(await at.operation(body.operationId)).toMatchObject({ status: 'in_progress' });
    expect((await recordsOf(body.operationId)).map(({ resolution }) => resolution)).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
    await later('61 seconds');
    // The second is a contact that the first has just made: it fails, and the records beside it do not.
    expect(await at.settled(body.operationId)).toMatchObject({
      status: 'success',
      counts: { total: 3, succeeded: 2, failed: 1 },
    });
    const records = await recordsOf(body.operationId);
    expect(records.map(({ resolution }) => resolution)).toEqual(['applied', 'notApplied', 'applied']);
    expect(records[1]?.errors).toMatchObject([{ category: 'conflict' }]);
  });

  it('§4.2.6 a batch leaves at the delay of its first record, whatever later ones ask for', async () => {
    const at = await customer();
    const { body } = await gather(first, at, {
      ...named('first-0'),
      autoBatchPolicy: { maxDelayMinutes: 3 },
    });
    for (const [n, maxDelayMinutes] of [1, 1440].entries()) {
      const other = await gather(second, at, {
        ...named(`first-${n + 1}`),
        autoBatchPolicy: { maxDelayMinutes },
      });
      expect(other.body.operationId).toBe(body.operationId);
    }
    await later('2 minutes');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await at.operation(body.operationId)).toMatchObject({ status: 'in_progress' });
    await later('61 seconds');
    expect(await at.settled(body.operationId)).toMatchObject({ counts: { total: 3, succeeded: 3 } });
  });

  it('§4.2.6 creates and updates, and what differs in headers or group, are different batches', async () => {
    const [one, other] = [await customer(), await customer()];
    const made = await one.write('contacts', { type: 'create', record: { email: 'apart@example.com' } });
    const id = made.body.result?.recordId;
    const answers = [
      await gather(first, one, named('apart-1')),
      await gather(first, one, { type: 'update', record: { id, firstname: 'Ada' } }),
      await gather(first, other, named('apart-2')),
    ];
    expect(new Set(answers.map(({ body }) => body.operationId)).size).toBe(3);
  });

  it('§4.2.6 an update of one record that stands twice in a batch is sent in successive calls, in order', async () => {
    const at = await customer();
    const made = await at.write('contacts', { type: 'create', record: { email: 'twice@example.com' } });
    const id = made.body.result?.recordId;
    const { result, requests } = await during(first.hubspot, async () => {
      const update = (firstname: string) => gather(first, at, { type: 'update', record: { id, firstname } });
      const { operationId } = (await update('Ada')).body;
      await update('Grace');
      await later('61 seconds');
      return at.settled(operationId);
    });
    expect(result).toMatchObject({ counts: { total: 2, succeeded: 2 } });
    const ofRecord = writes(requests).filter(({ path }) => path.endsWith(`/${id}`));
    const sent = ofRecord.map(({ body }) => /Ada|Grace/.exec(body)?.[0]);
    expect(sent).toEqual(['Ada', 'Grace']);
  });

  it('§4.2.6, §8 retries of a batch end at retryDeadlineHours of its first record, not at retryPolicy', async () => {
    const at = await customer();
    const made = await at.write('contacts', { type: 'create', record: { email: 'deadline@example.com' } });
    const id = made.body.result?.recordId;
    await fault(first.hubspot, {
      path: `/contacts/${id}`,
      fault: { kind: 'status', status: 503 },
      times: 1_000,
    });
    const { body } = await gather(first, at, {
      type: 'update',
      record: { id, firstname: 'Ada' },
      autoBatchPolicy: { maxDelayMinutes: 1, retryDeadlineHours: 2 },
      retryPolicy: { deadlineHours: 48 },
    });
    await later('61 seconds');
    const attempts = async (): Promise<number> =>
      (await at.operation(body.operationId)).metadata?.retry?.attempts ?? 0;
    await expect.poll(attempts, { timeout: 10_000 }).toBeGreaterThan(0);
    await later('110 minutes');
    const before = await attempts();
    await expect.poll(attempts, { timeout: 10_000 }).toBeGreaterThan(before);
    await later('11 minutes');
    expect(await at.settled(body.operationId)).toMatchObject({ status: 'failure', counts: { succeeded: 0 } });
  });

  it('an idempotency key is kept with the record: its repetition adds nothing, and a changed request is refused', async () => {
    const at = await customer();
    const key = { 'idempotency-key': 'auto-batch-1' };
    const taken = await Promise.all(
      Array.from({ length: 5 }, (_, n) => gather(n % 2 ? first : second, at, named('keyed'), key)),
    );
    expect(new Set(taken.map(({ body }) => body.operationId)).size).toBe(1);
    expect(taken.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(4);
    const changed = await gather(first, at, named('changed'), key);
    expect(changed).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } });
    await later('61 seconds');
    const [one] = taken;
    expect(await at.settled(one?.body.operationId ?? '')).toMatchObject({
      counts: { total: 1, succeeded: 1 },
    });
  });

  it('what waits in a batch when its installation is removed ends with that reason; nothing is sent', async () => {
    const at = await customer();
    const { result, requests } = await during(first.hubspot, async () => {
      const { operationId } = (await gather(first, at, named('removed'))).body;
      const gone = await first.call(
        'DELETE',
        `/projects/default/integrations/hubspot-crm/installations/${at.installationId}`,
      );
      expect(gone.status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      await later('61 seconds');
      const find = async (): Promise<OperationBody> =>
        (await first.call<OperationBody>('GET', `/projects/default/operations/${operationId}`)).body;
      await expect.poll(async () => (await find()).status, { timeout: 10_000 }).toBe('failure');
      return find();
    });
    expect(result.errors).toHaveLength(1);
    expect(result.result).toMatch(/removed|connection|not found/i);
    expect(writes(requests).filter(({ body }) => body.includes('removed@example.com'))).toEqual([]);
  });

  it('a changed config holds for records that come later; those in the batch are sent as they were accepted', async () => {
    const at = await customer();
    const { result, requests } = await during(first.hubspot, async () => {
      const { operationId } = (await gather(first, at, named('config'))).body;
      const changed = await first.call(
        'PATCH',
        `/projects/default/integrations/hubspot-crm/installations/${at.installationId}`,
        {
          updateMask: ['config.content.write.objects.contacts'],
          installation: {
            config: {
              content: {
                write: {
                  objects: {
                    contacts: {
                      objectName: 'contacts',
                      selectedFieldSettings: { firstname: { default: { stringValue: 'Later' } } },
                    },
                  },
                },
              },
            },
          },
        },
      );
      expect(changed.status).toBe(200);
      await later('61 seconds');
      return at.settled(operationId);
    });
    expect(result).toMatchObject({ status: 'success', counts: { succeeded: 1 } });
    const ofBatch = writes(requests).filter(({ body }) => body.includes('config@example.com'));
    expect(ofBatch.map(({ body }) => body.includes('Later'))).toEqual([false]);
  });
});
