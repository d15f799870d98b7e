import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, requestsOf, simulator, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

type Refusal = [
  title: string,
  object: string,
  body: Record<string, unknown>,
  expected: { status: number; code: string; name?: string },
];

const record = { email: 'ada@example.com' };
const association = {
  to: { id: '1' },
  types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }],
};
const invalid = (name: string) => ({ status: 400, code: 'invalid-request', name });
const unsupported = (name: string) => ({ status: 422, code: 'ability-unsupported', name });

const ofBoth: Refusal[] = [
  ['§2.6 groupRef missing', 'contacts', { type: 'create', record, groupRef: undefined }, invalid('groupRef')],
  ['§2.6 groupRef empty', 'contacts', { type: 'create', record, groupRef: '' }, invalid('groupRef')],
  ['§2.6 type missing', 'contacts', { record }, invalid('type')],
  ['§2.6 type unknown', 'contacts', { type: 'replace', record }, invalid('type')],
  ['§2.6 mode unknown', 'contacts', { type: 'create', mode: 'later', record }, invalid('mode')],
  ['§2.6 neither record nor batch', 'contacts', { type: 'create' }, invalid('record')],
  [
    '§2.6, §4.2.2 record and batch',
    'contacts',
    { type: 'create', record, batch: [{ record }] },
    invalid('batch'),
  ],
  ['§2.6 record no object', 'contacts', { type: 'create', record: 'x' }, invalid('record')],
  ['§2.6, §8 batch empty', 'contacts', { type: 'create', batch: [] }, invalid('batch')],
  [
    '§2.6, §8 batch of 101',
    'contacts',
    { type: 'create', batch: Array.from({ length: 101 }, () => ({ record })) },
    invalid('batch'),
  ],
  [
    '§2.6 an item without record',
    'contacts',
    { type: 'create', batch: [{ record }, {}] },
    invalid('batch[1].record'),
  ],
  ['§4.2.1 an update without id', 'contacts', { type: 'update', record }, invalid('record.id')],
  [
    '§4.2.1 an update with an empty id',
    'contacts',
    { type: 'update', record: { id: '', ...record } },
    invalid('record.id'),
  ],
  [
    '§4.2.1 an update in a batch without id',
    'contacts',
    { type: 'update', batch: [{ record: { id: '1' } }, { record }] },
    invalid('batch[1].record.id'),
  ],
  ['§4.2.1 a delete without id', 'contacts', { type: 'delete', record: {} }, invalid('record.id')],
  [
    '§4.2.1 a delete with more than the id',
    'contacts',
    { type: 'delete', record: { id: '1', ...record } },
    invalid('record.email'),
  ],
  [
    '§4.2.1, §8 a delete of a batch',
    'contacts',
    { type: 'delete', batch: [{ record: { id: '1' } }] },
    invalid('batch'),
  ],
  [
    '§4.2.5 retryPolicy in synchronous mode',
    'contacts',
    { type: 'create', record, retryPolicy: { deadlineHours: 1 } },
    invalid('retryPolicy'),
  ],
  [
    '§2.6, §8 deadlineHours over 48',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, retryPolicy: { deadlineHours: 49 } },
    invalid('retryPolicy.deadlineHours'),
  ],
  [
    '§2.6, §8 deadlineHours under 1',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, retryPolicy: { deadlineHours: 0 } },
    invalid('retryPolicy.deadlineHours'),
  ],
  [
    '§2.6 deadlineHours no integer',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, retryPolicy: { deadlineHours: 1.5 } },
    invalid('retryPolicy.deadlineHours'),
  ],
  [
    '§4.2.6 autoBatchPolicy with a batch',
    'contacts',
    { type: 'create', mode: 'asynchronous', batch: [{ record }], autoBatchPolicy: { maxDelayMinutes: 1 } },
    invalid('autoBatchPolicy'),
  ],
  [
    '§4.2.6 autoBatchPolicy with a delete',
    'contacts',
    { type: 'delete', mode: 'asynchronous', record: { id: '1' }, autoBatchPolicy: { maxDelayMinutes: 1 } },
    invalid('autoBatchPolicy'),
  ],
  [
    '§4.2.6 autoBatchPolicy in synchronous mode',
    'contacts',
    { type: 'create', record, autoBatchPolicy: { maxDelayMinutes: 1 } },
    invalid('autoBatchPolicy'),
  ],
  [
    '§2.6, §8 autoBatchPolicy without maxDelayMinutes',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, autoBatchPolicy: {} },
    invalid('autoBatchPolicy.maxDelayMinutes'),
  ],
  [
    '§2.6, §8 maxDelayMinutes under 1',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, autoBatchPolicy: { maxDelayMinutes: 0 } },
    invalid('autoBatchPolicy.maxDelayMinutes'),
  ],
  [
    '§2.6, §8 maxDelayMinutes over 1440',
    'contacts',
    { type: 'create', mode: 'asynchronous', record, autoBatchPolicy: { maxDelayMinutes: 1441 } },
    invalid('autoBatchPolicy.maxDelayMinutes'),
  ],
  [
    '§2.6, §8 retryDeadlineHours over 48',
    'contacts',
    {
      type: 'create',
      mode: 'asynchronous',
      record,
      autoBatchPolicy: { maxDelayMinutes: 1, retryDeadlineHours: 49 },
    },
    invalid('autoBatchPolicy.retryDeadlineHours'),
  ],
  [
    '§2.6, §8 retryDeadlineHours under 1',
    'contacts',
    {
      type: 'create',
      mode: 'asynchronous',
      record,
      autoBatchPolicy: { maxDelayMinutes: 1, retryDeadlineHours: 0 },
    },
    invalid('autoBatchPolicy.retryDeadlineHours'),
  ],
  [
    '§2.6 batchPolicy without a batch',
    'contacts',
    { type: 'create', record, batchPolicy: { allOrNone: true } },
    invalid('batchPolicy'),
  ],
  [
    '§2.6 allOrNone no boolean',
    'contacts',
    { type: 'create', batch: [{ record }], batchPolicy: { allOrNone: 'yes' } },
    invalid('batchPolicy.allOrNone'),
  ],
  [
    '§2.6 associations on an update',
    'contacts',
    { type: 'update', record: { id: '1' }, associations: [association] },
    invalid('associations'),
  ],
  [
    '§2.6 associations beside a batch',
    'contacts',
    { type: 'create', batch: [{ record }], associations: [association] },
    invalid('associations'),
  ],
  [
    '§2.6 an association without types',
    'contacts',
    { type: 'create', record, associations: [{ to: { id: '1' } }] },
    invalid('associations[0].types'),
  ],
  [
    '§2.6 an association without an id',
    'contacts',
    { type: 'create', record, associations: [{ ...association, to: {} }] },
    invalid('associations[0].to.id'),
  ],
  [
    '§2.6 an associationTypeId that is text',
    'contacts',
    {
      type: 'create',
      record,
      associations: [{ ...association, types: [{ associationCategory: 'X', associationTypeId: '1' }] }],
    },
    invalid('associations[0].types[0].associationTypeId'),
  ],
  [
    '§2.6 a header without value',
    'contacts',
    { type: 'create', record, headers: [{ key: 'a' }] },
    invalid('headers[0].value'),
  ],
  ['an unknown property', 'contacts', { type: 'create', record, autobatch: true }, invalid('autobatch')],
  [
    '§4.2.3 headers to HubSpot',
    'contacts',
    { type: 'create', record, headers: [{ key: 'x-a', value: 'b' }] },
    unsupported('headers'),
  ],
  [
    '§4.2.1, §7.4 a delete that the config does not enable',
    'companies',
    { type: 'delete', record: { id: '1' } },
    { status: 422, code: 'delete-not-enabled' },
  ],
  [
    '§7.4 a delete of an object that is not in the config',
    'contacts',
    { type: 'delete', record: { id: '1' } },
    { status: 422, code: 'delete-not-enabled' },
  ],
  [
    '§4.2 an object that the manifest does not declare',
    'deals',
    { type: 'create', record: {} },
    { status: 404, code: 'object-not-in-manifest' },
  ],
  [
    'a group without an installation',
    'contacts',
    { type: 'create', record, groupRef: 'nobody' },
    { status: 404, code: 'installation-not-found' },
  ],
];

const ofSalesforce: Refusal[] = [
  [
    '§4.2.3 associations to Salesforce',
    'Contact',
    { type: 'create', record: { LastName: 'A' }, associations: [association] },
    unsupported('associations'),
  ],
  [
    '§4.2.3 associations in a batch to Salesforce',
    'Contact',
    { type: 'create', batch: [{ record: { LastName: 'A' }, associations: [association] }] },
    unsupported('batch[0].associations'),
  ],
  [
    '§2.6 a header that carries credentials',
    'Contact',
    { type: 'create', record: { LastName: 'A' }, headers: [{ key: 'Authorization', value: 'Bearer x' }] },
    { status: 400, code: 'header-not-forwardable', name: 'headers[0].key' },
  ],
  [
    '§2.6 a header with a line break',
    'Contact',
    { type: 'create', record: { LastName: 'A' }, headers: [{ key: 'x-a', value: 'b\r\nx-c: d' }] },
    { status: 400, code: 'header-not-forwardable', name: 'headers[0].value' },
  ],
];

describe('test/journeys/write-refusals', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: Customer;
  let salesforce: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    hubspot = await install(platform, 'hubspot-crm', 'acme', {
      write: { objects: { companies: { objectName: 'companies', deletionSettings: { enabled: false } } } },
    });
    salesforce = await install(platform, 'salesforce-crm', 'acme');
    await Promise.all(
      [platform.hubspot, platform.salesforce].map((url) => simulator(url, 'DELETE', '/requests')),
    );
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** Nothing was sent, and no operation exists. */
  async function expectUntouched(): Promise<void> {
    for (const { integration, installationId } of [hubspot, salesforce]) {
      const path = `/projects/default/integrations/${integration}/installations/${installationId}/operations`;
      expect((await platform.call('GET', path)).body).toMatchObject({ results: [] });
    }
    expect(await requestsOf(platform.hubspot)).toEqual([]);
    expect(await requestsOf(platform.salesforce)).toEqual([]);
  }

  it.each(ofBoth)(
    '%s is refused; nothing is sent and there is no operation',
    async (_title, object, body, { status, code, name }) => {
      const refused = await hubspot.write<ProblemBody>(object, body);
      expect(refused).toMatchObject({ status, body: { code } });
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(refused.body.issues?.map((issue) => issue.name) ?? [undefined]).toContain(name);
      expect(refused.body).not.toHaveProperty('operationId');
      expect(refused.body.remedy).toBeTruthy();
      expect(refused.body).toMatchObject({ errors: [{ message: refused.body.detail }] });
      expect(refused.body).not.toHaveProperty('warnings');
      await expectUntouched();
    },
  );

  it.each(ofSalesforce)(
    '%s is refused; nothing is sent and there is no operation',
    async (_title, object, body, { status, code, name }) => {
      const refused = await salesforce.write<ProblemBody>(object, body);
      expect(refused).toMatchObject({ status, body: { code } });
      expect(refused.body.issues?.map((issue) => issue.name)).toContain(name);
      await expectUntouched();
    },
  );

  it('a record over the limit, and one nested too deeply, are refused', async () => {
    const large = await hubspot.write<ProblemBody>('contacts', {
      type: 'create',
      record: { email: 'x'.repeat(1024 * 1024) },
    });
    expect(large).toMatchObject({
      status: 422,
      body: { code: 'record-too-large', issues: [{ name: 'record' }] },
    });
    const deep = JSON.parse(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`) as Record<string, unknown>;
    expect(await hubspot.write<ProblemBody>('contacts', { type: 'create', record: deep })).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'record' }] },
    });
    await expectUntouched();
  });

  it('what is refused before a write is looked at carries errors, too', async () => {
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    const body = { groupRef: 'acme', type: 'create', record };
    const unknown = await platform.call<ProblemBody>('POST', path, body, { key: 'svc_no_key' });
    const large = await platform.call<ProblemBody>('POST', path, {
      ...body,
      record: { a: 'x'.repeat(11e6) },
    });
    for (const refused of [unknown, large])
      expect(refused.body).toMatchObject({ errors: [{ message: refused.body.detail }] });
    expect([unknown.status, large.status]).toEqual([401, 413]);
  });

  it('an integration that does not write, an unknown one and an unknown project are refused', async () => {
    const path = (project: string, integration: string) =>
      `/write/v1/projects/${project}/integrations/${integration}/objects/contacts`;
    const body = { groupRef: 'acme', type: 'create', record };
    expect(await platform.call('POST', path('default', 'nothing'), body)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    expect(await platform.call('POST', path('nothing', 'hubspot-crm'), body)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    await expectUntouched();
  });

  it('a key of another group is told which group it reaches, whether the other is there or not', async () => {
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    const given = { label: 'confined', groupRef: 'somebody', scopes: ['write'] };
    const { body } = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', given);
    for (const groupRef of ['acme', 'nobody']) {
      const request = { groupRef, type: 'create', record };
      const refused = await platform.call<ProblemBody>('POST', path, request, { key: body.key });
      expect(refused).toMatchObject({
        status: 404,
        body: {
          code: 'installation-not-found',
          detail: `The key or token reaches the group somebody alone, not ${groupRef}.`,
        },
      });
    }
    await expectUntouched();
  });

  it('a deleted connection is refused with the way to connect again', async () => {
    const lost = await install(platform, 'hubspot-crm', 'lost');
    await platform.call('DELETE', `/projects/default/connections/${lost.connectionId}`);
    const before = (await requestsOf(platform.hubspot)).length;
    const refused = await lost.write<ProblemBody>('contacts', { type: 'create', record });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'no-usable-connection', remedy: expect.stringContaining('oauth-connect') },
    });
    expect(await requestsOf(platform.hubspot)).toHaveLength(before);
  });
});
