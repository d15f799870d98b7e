import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hubspotClient, proxyHeaders, salesforceClient } from '../../scripts/demo/clients.ts';
import { deploy, install, requestsOf, simulator } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/proxy-clients', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: ReturnType<typeof hubspotClient>;
  let salesforce: ReturnType<typeof salesforceClient>;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    const headersFor = (installationId: string) =>
      proxyHeaders(platform.projectId, platform.apiKey, installationId);
    const [one, other] = [
      await install(platform, 'hubspot-crm', 'acme'),
      await install(platform, 'salesforce-crm', 'acme'),
    ];
    hubspot = hubspotClient(platform.proxy, headersFor(one.installationId));
    salesforce = salesforceClient(platform.proxy, headersFor(other.installationId));
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it('§4.6 @hubspot/api-client creates, reads, updates, searches and archives', async () => {
    const { basicApi, searchApi } = hubspot.crm.contacts;
    const made = await basicApi.create({ properties: { email: 'client@example.com' }, associations: [] });
    expect((await basicApi.getById(made.id, ['email'])).properties['email']).toBe('client@example.com');
    await basicApi.update(made.id, { properties: { firstname: 'Ada' } });
    const found = await searchApi.doSearch({
      filterGroups: [
        { filters: [{ propertyName: 'email', operator: 'EQ' as never, value: 'client@example.com' }] },
      ],
      properties: ['firstname'],
      limit: 10,
    });
    expect(found.results.map(({ id }) => id)).toContain(made.id);
    await basicApi.archive(made.id);
    await expect(basicApi.getById(made.id)).rejects.toMatchObject({ code: 404 });
  });

  it('§4.6 @hubspot/api-client pages and batches', async () => {
    const first = await hubspot.crm.contacts.basicApi.getPage(5);
    const second = await hubspot.crm.contacts.basicApi.getPage(5, first.paging?.next?.after);
    expect(new Set([...first.results, ...second.results].map(({ id }) => id)).size).toBe(10);
    const inputs = [1, 2, 3].map((n) => ({
      properties: { email: `batch${n}@example.com` },
      associations: [],
    }));
    const made = await hubspot.crm.contacts.batchApi.create({ inputs });
    expect(made.results).toHaveLength(3);
    await expect(
      hubspot.crm.contacts.basicApi.create({ properties: { nope: 'x' }, associations: [] }),
    ).rejects.toMatchObject({ code: 400 });
  });

  it('§4.6 jsforce creates, reads, updates, queries and deletes', async () => {
    const contacts = salesforce.sobject('Contact');
    const made = await contacts.create({ LastName: 'Lovelace' });
    expect(made).toMatchObject({ success: true });
    const id = made.id ?? '';
    await contacts.update({ Id: id, FirstName: 'Ada' });
    expect(await contacts.retrieve(id)).toMatchObject({ FirstName: 'Ada', LastName: 'Lovelace' });
    const found = await salesforce.query(`SELECT Id FROM Contact WHERE LastName = 'Lovelace'`);
    expect(found.totalSize).toBe(1);
    await contacts.destroy(id);
    await expect(contacts.retrieve(id)).rejects.toMatchObject({
      errorCode: expect.stringMatching(/NOT_FOUND|ENTITY_IS_DELETED/),
    });
  });

  it('§4.6 jsforce describes, sends collections and runs a Bulk 2.0 query', async () => {
    expect((await salesforce.describe('Contact')).name).toBe('Contact');
    const results = await salesforce.sobject('Account').create([{ Name: 'One' }, { Name: 'Two' }]);
    expect(results.map(({ success }) => success)).toEqual([true, true]);
    const rows: unknown[] = [];
    for await (const row of await salesforce.bulk2.query('SELECT Id, Name FROM Account', {
      pollInterval: 20,
    }))
      rows.push(row);
    expect(rows.length).toBeGreaterThanOrEqual(2);
  });

  it('a token that expires under the clients is renewed without their knowing', async () => {
    for (const url of [platform.hubspot, platform.salesforce])
      await simulator(url, 'POST', '/tokens', { action: 'expire' });
    expect((await hubspot.crm.contacts.basicApi.getPage(1)).results).toHaveLength(1);
    expect((await salesforce.query('SELECT Id FROM Account LIMIT 1')).records).toHaveLength(1);
  });

  it('neither our key nor the clients’ own tokens reach the provider', async () => {
    for (const url of [platform.hubspot, platform.salesforce]) {
      const requests = await requestsOf(url);
      // Those of the clients are among them, with the headers that they came with.
      const ofClients = requests.filter(({ headers }) => JSON.stringify(headers).includes('Bearer '));
      expect(ofClients.length).toBeGreaterThan(5);
      const sent = JSON.stringify(requests);
      expect(sent).not.toContain(platform.apiKey);
      expect(sent).not.toContain('the-proxy-replaces-it');
      expect(sent).not.toContain('x-svc-');
    }
  });
});
