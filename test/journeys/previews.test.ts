import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, during, fault, simulator, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type CallOptions, type Platform } from '../platform.ts';

interface Shown extends ProblemBody {
  recordId?: string;
  result: { fields: Record<string, unknown>; mappedFields: Record<string, unknown> }[];
  missingFields: string[];
  hasMore?: true;
}
interface Planned extends ProblemBody {
  plan: { records: { fields: Record<string, unknown> }[]; calls: { method: string; path: string }[] };
}

describe('test/journeys/previews', () => {
  let test: TestDatabase;
  let platform: Platform;
  let connectionId = '';
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, records: 3 });
    await deploy(platform);
    connectionId = await connect(platform, 'hubspot', 'acme');
  });
  afterEach(() => simulator(platform.hubspot, 'DELETE', '/faults'));
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const at = '/projects/default/integrations/hubspot-crm/objects/contacts';
  const reading = (more: Record<string, unknown> = {}) => ({
    provider: 'hubspot',
    read: { objects: { contacts: { objectName: 'contacts', ...more } } },
  });
  const preview = (content: object, more: object = {}, options: CallOptions = {}): Promise<Answer<Shown>> =>
    platform.call('POST', `${at}/read-preview`, { groupRef: 'acme', config: { content }, ...more }, options);
  const key = async (body: object): Promise<CallOptions> => {
    const made = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'previews',
      ...body,
    });
    return { key: made.body.key };
  };
  const keptRows = async (): Promise<unknown> =>
    (
      await test.database.raw(
        'SELECT (SELECT count(*) FROM operation) AS operations, (SELECT count(*) FROM installation) AS installations',
      )
    )[0];

  it('shows a record before anything is installed, by one question, and keeps nothing but that it was shown', async () => {
    const before = await keptRows();
    const { result, requests } = await during(platform.hubspot, () =>
      preview(reading({ selectedFieldMappings: { phone: 'firstname' } })),
    );
    expect(result.status).toBe(200);
    expect(result.headers.get('cache-control')).toBe('no-store');
    expect(result.body.recordId).toBeTypeOf('string');
    expect(Object.keys(result.body.result[0]!.fields)).toEqual(['email']);
    expect(result.body.result[0]!.mappedFields['phone']).toBeTypeOf('string');
    expect(requests.filter(({ path }) => path.includes('/objects/'))).toHaveLength(1);
    expect(await keptRows()).toEqual(before);
    const log = await platform.call<{ results: { target: { id: string }; details: object }[] }>(
      'GET',
      '/projects/default/audit-log?action=connection.sampled',
    );
    expect(log.body.results).toMatchObject([
      { target: { id: connectionId }, details: { groupRef: 'acme', objectName: 'contacts' } },
    ]);
  });

  it('says that no record passes the filters, and which fields are not there', async () => {
    const filter = { fieldName: 'email', operator: 'eq', value: 'nobody@nowhere.example' };
    const none = await preview(reading({ fieldFilters: [filter] }));
    expect(none).toMatchObject({ status: 200, body: { result: [] } });
    expect(none.body).not.toHaveProperty('recordId');
    expect(none.body).not.toHaveProperty('hasMore');
    const gone = await preview(reading({ selectedFields: { vanished: true } }));
    expect(gone).toMatchObject({ status: 200, body: { missingFields: ['vanished'] } });
    expect(gone.body.result[0]!.fields).not.toHaveProperty('vanished');
  });

  it('looks for a record that passes more filters than HubSpot is asked for, and says where it stopped', async () => {
    await simulator(platform.hubspot, 'POST', '/quotas', { searchPerSecond: null });
    const same = { lastname: 'Many', city: 'Bern', jobtitle: 'none' };
    // More than a record and two whole pages.
    const records = Array.from({ length: 450 }, (_, n) => ({
      properties: { ...same, company: n === 300 ? 'far' : n === 440 ? 'too far' : 'near' },
    }));
    await simulator(platform.hubspot, 'POST', '/data', { object: 'contacts', records });
    const filtered = (company: string) =>
      preview(
        reading({
          fieldFilters: Object.entries({ ...same, company }).map(([fieldName, value]) => ({
            fieldName,
            operator: 'eq',
            value,
          })),
          selectedFields: { company: true },
        }),
      );
    const far = await filtered('far');
    expect(far.body.result).toMatchObject([{ fields: { company: 'far' } }]);
    expect(far.body).not.toHaveProperty('hasMore');
    const { result: tooFar, requests } = await during(platform.hubspot, () => filtered('too far'));
    expect(tooFar).toMatchObject({ status: 200, body: { result: [], hasMore: true } });
    expect(requests.filter(({ path }) => path.includes('/objects/'))).toHaveLength(3);
  });

  it('refuses what saving would refuse, at the same place, and calls no provider', async () => {
    const wrong = reading({ selectedFieldMappings: { a: 'email' }, schedule: 'never' });
    const { result, requests } = await during(platform.hubspot, () => preview(wrong));
    expect(result).toMatchObject({
      status: 422,
      body: {
        code: 'config-invalid',
        issues: [{ name: 'config.content.read.objects.contacts.schedule' }],
      },
    });
    expect((await preview(reading({ disabled: true }))).body.code).toBe('read-disabled');
    expect((await preview({ provider: 'hubspot' })).body.code).toBe('object-not-in-config');
    expect((await preview(reading(), { groupRef: 'globex' })).body.code).toBe('no-usable-connection');
    expect(requests).toEqual([]);
  });

  it('says that the provider is down, and that it is to be left alone for a while', async () => {
    await fault(platform.hubspot, { fault: { kind: 'status', status: 503 }, path: '/objects/contacts' });
    expect(await preview(reading())).toMatchObject({ status: 502, body: { retryable: true } });
    await fault(platform.hubspot, {
      fault: { kind: 'status', status: 429, headers: { 'retry-after': '5' } },
      path: '/objects/contacts',
    });
    expect(await preview(reading())).toMatchObject({ status: 429, body: { code: 'provider-rate-limited' } });
  });

  it('shows a front end the records of its own group only, and a key that anybody can read none', async () => {
    const { body } = await platform.call<{ token: string }>('POST', '/projects/default/frontend-tokens', {
      groupRef: 'acme',
      consumerRef: 'acme-user',
    });
    const bearer = { key: null, headers: { authorization: `Bearer ${body.token}` } };
    const own = await preview(reading(), {}, bearer);
    expect([200, 429]).toContain(own.status);
    expect(await preview(reading(), { groupRef: 'globex' }, bearer)).toMatchObject({ status: 404 });
    const anybody = await preview(reading(), {}, await key({ scopes: ['frontend'] }));
    expect(anybody).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const confined = await preview(reading(), {}, await key({ scopes: ['frontend'], groupRef: 'acme' }));
    expect([200, 429]).toContain(confined.status);
  });

  it('shows a write by a config that nobody saved: defaults, what is never written, and mapped names', async () => {
    const settings = {
      city: { default: { stringValue: 'Bern' }, writeOnUpdate: 'never' },
      lifecyclestage: { writeOnCreate: 'never' },
    };
    const content = {
      ...reading({ selectedFieldMappings: { phone: 'mobilephone' } }),
      write: { objects: { contacts: { objectName: 'contacts', selectedFieldSettings: settings } } },
    };
    const plan = (type: string, record: object, of: object = content) =>
      platform.call<Planned>('POST', `${at}/write-preview`, {
        groupRef: 'acme',
        config: { content: of },
        type,
        record,
      });
    const { result: created, requests } = await during(platform.hubspot, () =>
      plan('create', { email: 'a@example.com', phone: '1', lifecyclestage: 'lead' }),
    );
    expect(created.body.plan).toMatchObject({
      records: [{ fields: { email: 'a@example.com', mobilephone: '1', city: 'Bern' } }],
      calls: [{ method: 'POST' }],
    });
    expect(created.body.plan.records[0]!.fields).not.toHaveProperty('lifecyclestage');
    const updated = await plan('update', { id: '7', city: 'Rome', lifecyclestage: 'lead' });
    expect(updated.body.plan.records[0]!.fields).toEqual({ lifecyclestage: 'lead' });
    expect(requests).toEqual([]);
    const refused = await plan('update', { city: 'Rome' });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ name: 'record.id' }] } });
    const deals = await platform.call<Planned>(
      'POST',
      '/projects/default/integrations/hubspot-crm/objects/deals/write-preview',
      { groupRef: 'acme', config: { content }, type: 'create', record: {} },
    );
    expect(deals).toMatchObject({ status: 404, body: { code: 'object-not-in-manifest' } });
  });
});
