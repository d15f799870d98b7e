import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, during, fault, install, simulator, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Side {
  name: 'hubspot' | 'salesforce';
  object: string;
  required: (name: string) => Record<string, unknown>;
  change: Record<string, unknown>;
}

const sides: Side[] = [
  {
    name: 'hubspot',
    object: 'contacts',
    required: (name) => ({ email: `${name}@example.com` }),
    change: { firstname: 'Ada' },
  },
  {
    name: 'salesforce',
    object: 'Contact',
    required: (name) => ({ LastName: name }),
    change: { FirstName: 'Ada' },
  },
];

describe('test/journeys/write', () => {
  let test: TestDatabase;
  let platform: Platform;
  const customers = {} as Record<'hubspot' | 'salesforce', Customer>;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customers.hubspot = await install(platform, 'hubspot-crm', 'acme', {
      read: {
        objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { phone: 'mobilephone' } } },
      },
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
    });
    customers.salesforce = await install(platform, 'salesforce-crm', 'acme', {
      write: { objects: { Contact: { objectName: 'Contact', deletionSettings: { enabled: true } } } },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const unique = (): string => `w${++count}`;
  const urlOf = ({ name }: Side) => platform[name];
  /** The record as the simulated provider keeps it. */
  const stored = async (side: Side, id: string): Promise<Record<string, unknown>> => {
    const found = await simulator<{ properties?: Record<string, unknown> }>(
      urlOf(side),
      'GET',
      `/data/${side.object}/${id}`,
    );
    return found.properties ?? found;
  };
  const isGone = async (side: Side, id: string): Promise<boolean> => {
    const kept = await simulator<{ archived?: boolean; IsDeleted?: boolean }>(
      urlOf(side),
      'GET',
      `/data/${side.object}/${id}`,
    );
    return (kept.archived ?? kept.IsDeleted) === true;
  };

  describe.each(sides)('$name', (side) => {
    it('§4.2.1, §4.2.4 a synchronous create returns the record', async () => {
      const record = side.required(unique());
      const { result: made, requests } = await during(urlOf(side), () =>
        customers[side.name].write(side.object, { type: 'create', mode: 'synchronous', record }),
      );
      expect(made).toMatchObject({
        status: 200,
        body: { operationId: expect.any(String), result: { success: true, recordId: expect.any(String) } },
      });
      expect(made.body.result?.data).toMatchObject(record);
      expect(requests).toHaveLength(1);
      expect(await stored(side, made.body.result!.recordId!)).toMatchObject(record);
      expect(await customers[side.name].operation(made.body.operationId)).toMatchObject({
        status: 'success',
      });
    });

    it('§4.2.1 without a mode the write is synchronous', async () => {
      const made = await customers[side.name].write(side.object, {
        type: 'create',
        record: side.required(unique()),
      });
      expect(made.body.result).toMatchObject({ success: true });
    });

    it('§4.2.1 an update changes the record that id names', async () => {
      const made = await customers[side.name].write(side.object, {
        type: 'create',
        record: side.required(unique()),
      });
      const id = made.body.result!.recordId!;
      const { result: changed, requests } = await during(urlOf(side), () =>
        customers[side.name].write(side.object, { type: 'update', record: { id, ...side.change } }),
      );
      expect(changed).toMatchObject({
        status: 200,
        body: { result: { success: true, recordId: id, data: side.change } },
      });
      expect(requests.map(({ method }) => method)).toEqual(['PATCH']);
      expect(await stored(side, id)).toMatchObject(side.change);
    });

    it('an update does not overtake a queued one of the same record, nor the one that is being sent', async () => {
      const customer = customers[side.name];
      const made = await customer.write(side.object, { type: 'create', record: side.required(unique()) });
      const id = made.body.result!.recordId!;
      const [field = ''] = Object.keys(side.change);
      await fault(urlOf(side), { method: 'PATCH', fault: { kind: 'delay', ms: 700 }, times: 1 });
      const update = (mode: string, value: string) =>
        customer.write(side.object, { type: 'update', mode, record: { id, [field]: value } });
      await update('asynchronous', 'first');
      await update('asynchronous', 'second');
      expect((await update('synchronous', 'third')).body.result).toMatchObject({ success: true });
      expect(await stored(side, id)).toMatchObject({ [field]: 'third' });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await stored(side, id)).toMatchObject({ [field]: 'third' });
    });

    it('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only; mode is not used', async () => {
      const made = await customers[side.name].write(side.object, {
        type: 'create',
        record: side.required(unique()),
      });
      const id = made.body.result!.recordId!;
      const gone = await customers[side.name].write(side.object, {
        type: 'delete',
        mode: 'asynchronous',
        record: { id },
      });
      expect(gone).toMatchObject({ status: 200, body: { result: { success: true, recordId: id } } });
      expect(gone.body.result).not.toHaveProperty('data');
      expect(await isGone(side, id)).toBe(true);
      expect(await customers[side.name].operation(gone.body.operationId)).toMatchObject({
        status: 'success',
      });
    });

    it('§4.2.5 an asynchronous write answers operationId at once and is done in the background', async () => {
      const record = side.required(unique());
      const taken = await customers[side.name].write(side.object, {
        type: 'create',
        mode: 'asynchronous',
        record,
      });
      expect(taken.status).toBe(200);
      expect(taken.body).toEqual({ operationId: expect.any(String) });
      const done = await customers[side.name].settled(taken.body.operationId);
      expect(done).toMatchObject({ status: 'success', counts: { total: 1, succeeded: 1 } });
      const [id] = done.metadata!.successfulRecordIds!;
      expect(await stored(side, id!)).toMatchObject(record);
    });

    it('§4.2.5 an asynchronous update is validated first, then done', async () => {
      const made = await customers[side.name].write(side.object, {
        type: 'create',
        record: side.required(unique()),
      });
      const id = made.body.result!.recordId!;
      const taken = await customers[side.name].write(side.object, {
        type: 'update',
        mode: 'asynchronous',
        record: { id, ...side.change },
      });
      expect(await customers[side.name].settled(taken.body.operationId)).toMatchObject({ status: 'success' });
      expect(await stored(side, id)).toMatchObject(side.change);
      const refused = await customers[side.name].write<ProblemBody>(side.object, {
        type: 'update',
        mode: 'asynchronous',
        record: side.change,
      });
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ name: 'record.id' }] } });
    });

    it('a provider’s refusal of a record is answered 422 with its reason and an operation', async () => {
      const refused = await customers[side.name].write(side.object, {
        type: 'create',
        record: { ...side.required(unique()), nope__c: 'x' },
      });
      expect(refused.status).toBe(422);
      expect(refused.body).toMatchObject({
        operationId: expect.any(String),
        result: { success: false },
        errors: [{ category: 'validation', retryable: false }],
      });
      expect(refused.body.errors?.[0]?.message).toMatch(
        new RegExp(`error writing ${side.object}: .*nope__c`),
      );
      expect(await customers[side.name].operation(refused.body.operationId)).toMatchObject({
        status: 'failure',
      });
    });

    it('a record that is not there is a failure', async () => {
      const id = side.name === 'hubspot' ? '999999999' : '003000000000000AAA';
      const missing = await customers[side.name].write(side.object, {
        type: 'update',
        record: { id, ...side.change },
      });
      expect(missing).toMatchObject({ status: 422, body: { errors: [{ category: 'notFound' }] } });
    });

    it('numbers arrive as they were sent', async () => {
      const field = side.name === 'hubspot' ? 'zip' : 'Description';
      const number = '9007199254740993';
      const body = JSON.stringify({
        groupRef: 'acme',
        type: 'create',
        record: { ...side.required(unique()), [field]: 0 },
      });
      const path = `/write/v1/projects/default/integrations/${side.name}-crm/objects/${side.object}`;
      for (const value of [number, '1e400', '0.10000000000000000000001']) {
        const text = body.replace(`"${field}":0`, `"${field}":${value}`).replace(/w\d+/, unique());
        const { requests } = await during(urlOf(side), () => platform.call('POST', path, text));
        expect(requests[0]?.body).toContain(`"${field}":${value}`);
      }
    });
  });

  it('§4.2.3, §2.6 a HubSpot create makes its associations', async () => {
    const company = await customers.hubspot.write('companies', { type: 'create', record: { name: 'Acme' } });
    const to = { id: company.body.result!.recordId! };
    const made = await customers.hubspot.write('contacts', {
      type: 'create',
      record: { email: 'linked@example.com' },
      associations: [{ to, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }] }],
    });
    expect(made.status).toBe(200);
    const kept = await simulator<{ associations: unknown }>(
      platform.hubspot,
      'GET',
      `/data/contacts/${made.body.result?.recordId}`,
    );
    expect(JSON.stringify(kept.associations)).toContain(`"${to.id}"`);
  });

  it('§4.2.3, §2.6 headers are forwarded to Salesforce, on create, update and delete', async () => {
    const headers = [{ key: 'Sforce-Auto-Assign', value: 'FALSE' }];
    const write = (body: Record<string, unknown>) =>
      customers.salesforce.write('Contact', { headers, ...body });
    const made = await during(platform.salesforce, () =>
      write({ type: 'create', record: { LastName: unique() } }),
    );
    const id = made.result.body.result!.recordId!;
    const changed = await during(platform.salesforce, () =>
      write({ type: 'update', record: { id, FirstName: 'A' } }),
    );
    const gone = await during(platform.salesforce, () => write({ type: 'delete', record: { id } }));
    for (const { result, requests } of [made, changed, gone]) {
      expect(result.status).toBe(200);
      expect(requests[0]?.headers['sforce-auto-assign']).toBe('FALSE');
      expect(requests[0]?.headers['x-api-key']).toBeUndefined();
    }
  });

  it('a dry run answers what would be sent, sends nothing and makes no operation', async () => {
    const { result: dry, requests } = await during(platform.hubspot, () =>
      customers.hubspot.write<{ plan: unknown }>('contacts', {
        type: 'create',
        dryRun: true,
        record: { email: 'dry@example.com', phone: '1' },
      }),
    );
    expect(dry).toMatchObject({
      status: 200,
      body: {
        plan: {
          records: [{ fields: { email: 'dry@example.com', mobilephone: '1' } }],
          calls: [{ method: 'POST' }],
        },
      },
    });
    expect(dry.body).not.toHaveProperty('operationId');
    expect(requests).toEqual([]);
  });
});
