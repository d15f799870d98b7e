import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, during, install, simulator } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Found {
  results: { fields: Record<string, unknown> }[];
  result: unknown[];
  hasMore?: true;
}

describe('test/journeys/searches', () => {
  let test: TestDatabase;
  let platform: Platform;
  const same = { lastname: 'Many', city: 'Bern', jobtitle: 'none' };

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, records: 0 });
    await deploy(platform);
    await install(platform, 'hubspot-crm', 'acme', {
      read: { objects: { contacts: { objectName: 'contacts', selectedFields: { company: true } } } },
    });
    await simulator(platform.hubspot, 'POST', '/quotas', { searchPerSecond: null });
    // More than three pages.
    const companies = Array.from({ length: 650 }, () => 'near')
      .with(250, 'far')
      .with(640, 'too far');
    const records = companies.map((company) => ({ properties: { ...same, company } }));
    await simulator(platform.hubspot, 'POST', '/data', { object: 'contacts', records });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** By more filters than HubSpot is asked for: by the company, too. */
  const search = (company: string) =>
    during(platform.hubspot, () =>
      platform.call<Found>('POST', '/search/v1/projects/default/integrations/hubspot-crm?groupRef=acme', {
        objectName: 'contacts',
        fieldFilters: Object.entries({ ...same, company }).map(([fieldName, value]) => ({
          fieldName,
          operator: 'eq',
          value,
        })),
      }),
    );

  it('finds a record behind the first page that passes more filters than HubSpot is asked for', async () => {
    const { result: found, requests } = await search('far');
    expect(found).toMatchObject({
      status: 200,
      body: { results: [{ fields: { company: 'far' } }], hasMore: true },
    });
    expect(found.body.result).toEqual(found.body.results);
    expect(requests.filter(({ path }) => path.endsWith('/contacts/search'))).toHaveLength(2);
  });

  it('says that more may come behind the three pages that it looks at', async () => {
    const { result: none, requests } = await search('too far');
    expect(none.body).toEqual({ results: [], result: [], hasMore: true });
    expect(requests.filter(({ path }) => path.endsWith('/contacts/search'))).toHaveLength(3);
  });

  it('says nothing of more where it looked at all', async () => {
    await simulator(platform.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: [{ properties: { lastname: 'One', company: 'alone' } }],
    });
    const found = await platform.call<Found>(
      'POST',
      '/search/v1/projects/default/integrations/hubspot-crm?groupRef=acme',
      { objectName: 'contacts', fieldFilters: [{ fieldName: 'lastname', operator: 'eq', value: 'One' }] },
    );
    expect(found.body.results).toMatchObject([{ fields: { company: 'alone' } }]);
    expect(found.body).not.toHaveProperty('hasMore');
  });
});
