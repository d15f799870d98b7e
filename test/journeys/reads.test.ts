import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields:
            - fieldName: email
            - { fieldName: firstname, mapToName: given }
          backfill: { defaultPeriod: { fullHistory: true } }
`;

describe('test/journeys/reads', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform, manifest);
    await test.database.raw(
      `INSERT INTO destination (project_id, id, name, type, metadata, secrets) VALUES ($1, gen_random_uuid(), 'inbox', 'webhook', '{}', '')`,
      [platform.projectId],
    );
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it('reads', async () => {
    const at: Customer = await install(platform, 'hubspot-crm', 'g1', {
      read: { objects: { contacts: { objectName: 'contacts', selectedFields: { lastname: true } } } },
    });
    await new Promise((r) => setTimeout(r, 3000));
    const path = `/projects/default/integrations/hubspot-crm/installations/${at.installationId}`;
    const reads = await platform.call<any>('GET', `${path}/reads`);
    console.log(reads.status, JSON.stringify(reads.body, null, 1));
    const ops = await platform.call<any>('GET', `${path}/operations`);
    console.log(JSON.stringify(ops.body.results, null, 1));
    const logs = await platform.call<any>(
      'GET',
      `/projects/default/operations/${ops.body.results[0].id}/logs`,
    );
    console.log(JSON.stringify(logs.body, null, 1));
    console.log(
      await test.database.raw(
        'SELECT id, records, bytes, encoding, octet_length(body) AS stored, keys FROM message',
      ),
    );
    const read = await platform.call<any>(
      'POST',
      '/read/v1/projects/default/integrations/hubspot-crm/objects/people',
      { groupRef: 'g1', mode: 'async', sinceTimestamp: '2020-01-01T00:00:00Z' },
    );
    console.log(read.status, read.text);
    if (read.body.operationId) console.log(JSON.stringify(await at.settled(read.body.operationId)));
    const search = await platform.call<any>(
      'POST',
      '/search/v1/projects/default/integrations/hubspot-crm?groupRef=g1',
      { objectName: 'people', fieldFilters: [{ fieldName: 'given', operator: 'eq', value: 'Ada' }] },
    );
    console.log(search.status, search.text.slice(0, 600));
    console.log(platform.said());
    expect(1).toBe(1);
  });
});
