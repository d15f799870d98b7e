import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, fault, install, simulator, during, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Result {
  success: boolean;
  recordId?: string;
  created?: boolean;
  errors?: { category: string; message: string }[];
}
interface Body {
  operationId: string;
  code?: string;
  detail?: string;
  category?: string;
  retryable?: boolean;
  result?: Result;
  results?: Result[];
  issues?: { name: string; detail: string }[];
  plan?: { calls: { path: string; body: { inputs?: unknown[] } }[] };
}

const sides = {
  hubspot: {
    object: 'contacts',
    upsertBy: 'email',
    kind: 'hubspot-crm',
    name: 'firstname',
    domain: 'example.com',
  },
  salesforce: {
    object: 'Contact',
    upsertBy: 'External_Id__c',
    kind: 'salesforce-crm',
    name: 'LastName',
    domain: 'example',
  },
} as const;

describe('test/journeys/write-upsert', () => {
  let test: TestDatabase;
  let platform: Platform;
  const customers: Partial<Record<keyof typeof sides, Customer>> = {};
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_LEASE_MS: '2000', SVC_PROVIDER_CALL_MS: '1500' },
    });
    await deploy(platform);
    customers.hubspot = await install(platform, 'hubspot-crm', 'acme');
    customers.salesforce = await install(platform, 'salesforce-crm', 'acme');
  });
  afterEach(async () => {
    for (const url of [platform.hubspot, platform.salesforce]) await simulator(url, 'DELETE', '/faults');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const later = (interval: string) =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);

  describe.each(['hubspot', 'salesforce'] as const)('at %s', (side) => {
    const { object, upsertBy, name } = sides[side];
    const url = (): string => platform[side];
    const write = (
      body: Record<string, unknown>,
      options?: { key?: string; headers?: Record<string, string> },
    ) => (customers[side] as Customer).write<Body>(object, { type: 'upsert', upsertBy, ...body }, options);
    const key = (): string => `up${++count}@${sides[side].domain}`;
    const record = (value: string, called = 'Ada') => ({ [upsertBy]: value, [name]: called });
    /** The provider does it, or not, and its answer is lost. */
    const lose = (value: string, more: Record<string, unknown>) => {
      const its = side === 'hubspot' ? { contains: value } : { path: value.replace(/@.*/, '') };
      return fault(url(), { method: side === 'hubspot' ? 'POST' : 'PATCH', fault: {}, ...its, ...more });
    };
    const made = async (value: string) =>
      (await effects(url())).filter(
        ({ kind, fields }) => kind === 'create' && Object.values(fields).includes(value),
      );
    const outcomes = async (id: string): Promise<Result[]> =>
      (await platform.call<{ results: Result[] }>('GET', `/projects/default/operations/${id}/records`)).body
        .results;

    it('creates the record that is not there, and updates the one that is', async () => {
      const value = key();
      const first = await write({ record: record(value) });
      expect(first).toMatchObject({ status: 200, body: { result: { success: true, created: true } } });
      const again = await write({ record: record(value.toUpperCase(), 'Grace') });
      const { recordId } = first.body.result as Result;
      expect(again).toMatchObject({ status: 200, body: { result: { recordId, created: false } } });
      expect(await outcomes(again.body.operationId)).toMatchObject([{ recordId, created: false }]);
      expect(await made(value)).toHaveLength(1);
    });

    it('a batch says of each record whether it was created; one that stands there twice is written in order', async () => {
      const [known, fresh] = [key(), key()];
      await write({ record: record(known) });
      const batch = [record(known, 'B'), record(fresh, 'C'), record(fresh, 'D')].map((one) => ({
        record: one,
      }));
      const { body, status } = await write({ batch });
      expect(status).toBe(200);
      expect(body.results).toMatchObject([{ created: false }, { created: true }, { created: false }]);
      expect(body.results?.[1]?.recordId).toBe(body.results?.[2]?.recordId);
      expect(await made(fresh)).toHaveLength(1);
      const whole = await write({ batch, batchPolicy: { allOrNone: true } });
      expect(whole).toMatchObject({ status: 422, body: { code: 'record-repeated' } });
      expect(whole.body.issues).toMatchObject([{ name: `batch[2].record.${upsertBy}` }]);
    });

    it('asynchronous and gathered ones end with what they did', async () => {
      const [one, two] = [key(), key()];
      const single = await write({ mode: 'asynchronous', record: record(one) });
      expect(await customers[side]?.settled(single.body.operationId)).toMatchObject({
        status: 'success',
        result: `[${object}] 1 record upserted.`,
      });
      const gathered = await Promise.all(
        [one, two].map((value) =>
          write({ mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 }, record: record(value) }),
        ),
      );
      await later('2 minutes');
      const id = gathered[0]?.body.operationId ?? '';
      expect(gathered[1]?.body.operationId).toBe(id);
      await customers[side]?.settled(id);
      expect(new Set((await outcomes(id)).map(({ created }) => created))).toEqual(new Set([false, true]));
      expect(await made(one)).toHaveLength(1);
    });

    it.each(['reset-after', 'reset-before', 'truncate'])(
      'a synchronous one whose answer is lost (%s) is repeated while its caller waits, and makes one record',
      async (kind) => {
        const value = key();
        await lose(value, { fault: { kind } });
        const { result: answer, requests } = await during(url(), () => write({ record: record(value) }));
        expect(answer).toMatchObject({
          status: 200,
          body: { result: { success: true, recordId: expect.any(String) } },
        });
        // Nothing says which of the two attempts made the record.
        expect(answer.body.result?.created).toBe(kind === 'reset-before' ? true : undefined);
        expect(requests.filter(({ method }) => method !== 'GET')).toHaveLength(2);
        expect(await made(value)).toHaveLength(1);
      },
    );

    it('one that stays lost is sent again by a worker, until it is known', async () => {
      const value = key();
      await lose(value, { fault: { kind: 'reset-after' }, times: 4 });
      const answer = await write({ record: record(value) }, { headers: { 'idempotency-key': value } });
      expect(answer).toMatchObject({ body: { category: 'unknownOutcome', retryable: true } });
      const { operationId } = answer.body;
      expect(await customers[side]?.operation(operationId)).toMatchObject({ status: 'in_progress' });
      await later('1 minute');
      await customers[side]?.settled(operationId);
      expect(await customers[side]?.operation(operationId)).toMatchObject({
        status: 'success',
        counts: { succeeded: 1, failed: 0, unknown: 0 },
      });
      expect(await made(value)).toHaveLength(1);
      const replayed = await write({ record: record(value) }, { headers: { 'idempotency-key': value } });
      expect(replayed).toMatchObject({ status: 200, body: { operationId, result: { success: true } } });
    });

    it('an asynchronous one whose answers are lost is known in the end', async () => {
      const value = key();
      await lose(value, { fault: { kind: 'reset-after' } });
      await lose(value, { fault: { kind: 'status', status: 503, effect: true } });
      const { body } = await write({ mode: 'asynchronous', record: record(value) });
      await customers[side]?.settled(body.operationId);
      expect(await customers[side]?.operation(body.operationId)).toMatchObject({
        status: 'success',
        counts: { succeeded: 1, unknown: 0 },
      });
      expect(await made(value)).toHaveLength(1);
    });

    it('is refused where the field tells no records apart, has no value, or has no place', async () => {
      const value = key();
      const bad = await write({ upsertBy: name, record: record(value) });
      expect(bad).toMatchObject({ status: 422, body: { code: 'not-unique' } });
      expect(bad.body.detail).toContain(upsertBy);
      const refusals: [Record<string, unknown>, string][] = [
        [{ record: { [name]: 'x' } }, `record.${upsertBy}`],
        [{ record: record(' ') }, `record.${upsertBy}`],
        [{ record: { ...record(value), [upsertBy]: { a: 1 } } }, `record.${upsertBy}`],
        [{ record: { ...record(value), id: '1' } }, 'record.id'],
        [{ upsertBy: undefined, record: record(value) }, 'upsertBy'],
        [{ upsertBy: 'Id', record: record(value) }, 'upsertBy'],
        [{ type: 'create', record: record(value) }, 'upsertBy'],
      ];
      for (const [body, place] of refusals) {
        const answer = await write(body);
        expect(answer).toMatchObject({
          status: 400,
          body: { issues: [{ name: place }] },
        });
      }
      expect(await made(value)).toEqual([]);
    });
  });

  it('goes by a property that became unique a moment ago, and a wrong one costs no request each time', async () => {
    const customer = await install(platform, 'hubspot-crm', 'late-unique');
    const upsert = () =>
      customer.write<Body>('contacts', {
        type: 'upsert',
        upsertBy: 'cust_no',
        record: { cust_no: `c${++count}`, firstname: 'Ada' },
      });
    expect(await upsert()).toMatchObject({ status: 422, body: { code: 'not-unique' } });
    const property = { name: 'cust_no', type: 'string', fieldType: 'text', hasUniqueValue: true };
    await simulator(platform.hubspot, 'POST', '/schema', { object: 'contacts', properties: [property] });
    const { result, requests } = await during(platform.hubspot, async () => {
      const statuses: number[] = [];
      await expect
        .poll(async () => statuses[statuses.push((await upsert()).status) - 1], { timeout: 10_000 })
        .toBe(200);
      return statuses;
    });
    expect(result.length).toBeGreaterThan(10);
    // What describes the object is asked for once.
    expect(requests.map(({ path }) => path).toSorted()).toEqual([
      '/crm-object-schemas/v3/schemas/contacts',
      '/crm/v3/objects/contacts/batch/upsert',
      '/crm/v3/properties/contacts',
    ]);
  }, 20_000);

  it('field settings that differ for creating and updating hold by what stands there', async () => {
    const settings = {
      jobtitle: { writeOnCreate: 'never' },
      city: { writeOnUpdate: 'never' },
      lastname: { writeOnUpdate: 'ifEmpty' },
      email: { writeOnUpdate: 'never' },
    };
    const customer = await install(platform, 'hubspot-crm', 'settings', {
      write: { objects: { contacts: { objectName: 'contacts', selectedFieldSettings: settings } } },
    });
    const email = `settings${++count}@example.com`;
    const write = (more: Record<string, unknown>) =>
      customer.write<Body>('contacts', { type: 'upsert', upsertBy: 'email', ...more });
    const sent = (n: number) => ({
      email,
      jobtitle: `J${n}`,
      city: `C${n}`,
      lastname: `L${n}`,
      firstname: `F${n}`,
    });
    const first = await write({ record: sent(1) });
    expect(first).toMatchObject({ status: 200, body: { result: { created: true } } });
    expect(await write({ record: sent(2) })).toMatchObject({ body: { result: { created: false } } });
    const written = (await effects(platform.hubspot)).filter(({ id }) => id === first.body.result?.recordId);
    expect(written.map(({ fields }) => fields)).toMatchObject([
      { email, city: 'C1', lastname: 'L1', firstname: 'F1' },
      { jobtitle: 'J2', firstname: 'F2' },
    ]);
    expect(written[0]?.fields).not.toHaveProperty('jobtitle');
    expect(Object.keys(written[1]?.fields ?? {})).not.toContain('city');
    expect(Object.keys(written[1]?.fields ?? {})).not.toContain('lastname');
    const nothing = await during(platform.hubspot, () => write({ record: { email, city: 'C3' } }));
    expect(nothing.result).toMatchObject({
      body: { result: { created: false, recordId: first.body.result?.recordId } },
    });
    expect(nothing.requests.map(({ path }) => path)).toEqual(['/crm/v3/objects/contacts/batch/read']);
    const dry = await write({ record: sent(4), dryRun: true });
    expect(dry.body.plan?.calls.map(({ path }) => path)).toEqual([
      '/crm/v3/objects/contacts/batch/read',
      '/crm/v3/objects/contacts/batch/upsert',
    ]);
  });

  it('of records that share a value none is changed, and the answer says so', async () => {
    const record = { LastName: 'Twice', Email: `twice${++count}@example.com` };
    const customer = customers.salesforce as Customer;
    for (const _ of [1, 2]) await customer.write('Contact', { type: 'create', record });
    const answer = await customer.write<Body>('Contact', { type: 'upsert', upsertBy: 'Email', record });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toMatch(/conflict.*more than one record/);
  });

  it('an upsert of unknown outcome ends when its installation is removed, and so does what waits behind it', async () => {
    const removed = await install(platform, 'hubspot-crm', 'removed');
    const path = '/batch/upsert';
    await fault(platform.hubspot, { path, times: 1_000, fault: { kind: 'status', status: 503 } });
    const upsert = async (firstname: string): Promise<string> => {
      const record = { email: 'removed@example.com', firstname };
      const options = { mode: 'asynchronous', retryPolicy: { deadlineHours: 48 } };
      const { body } = await removed.write('contacts', {
        type: 'upsert',
        upsertBy: 'email',
        record,
        ...options,
      });
      return body.operationId;
    };
    const [first, second] = [await upsert('one'), await upsert('two')];
    await expect
      .poll(async () => (await removed.operation(first)).errors, { timeout: 10_000 })
      .toMatchObject([{ category: 'unknownOutcome' }]);
    const at = `/projects/default/integrations/hubspot-crm/installations/${removed.installationId}`;
    expect((await platform.call('DELETE', at)).status).toBe(204);
    expect(await removed.settled(first, 40_000)).toMatchObject({
      status: 'failure',
      counts: { unknown: 1 },
      errors: [{ message: expect.stringContaining('removed') as string }],
    });
    expect(await removed.settled(second, 40_000)).toMatchObject({ status: 'failure', counts: { failed: 1 } });
  }, 90_000);
});
