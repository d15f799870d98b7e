import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, simulator } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { startReceiver, type Receiver } from '../receiver.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: companies
          destination: inbox
          requiredFields: [{ fieldName: name }]
          backfill: { defaultPeriod: { fullHistory: true } }
`;

describe('journeys/read-waits', () => {
  let test: TestDatabase;
  let platform: Platform;
  let receiver: Receiver;

  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
    platform = await startPlatform({ databaseUrl: test.url, records: 0 });
    await deploy(platform, manifest);
    const inbox = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } };
    await platform.call('POST', `/projects/${platform.projectId}/destinations`, inbox);
    // Three pages of a list.
    const records = Array.from({ length: 250 }, (_, at) => ({ properties: { name: `name ${at}` } }));
    await simulator(platform.hubspot, 'POST', '/data', { object: 'companies', records });
    await test.database.raw(`
      CREATE FUNCTION not_yet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'not yet';
      END $$`);
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await receiver?.close();
    await test?.drop();
  });

  const holdBefore = (page: number) =>
    test.database.raw(
      `CREATE OR REPLACE TRIGGER not_yet BEFORE INSERT ON message FOR EACH ROW WHEN (NEW.page = ${page}) EXECUTE FUNCTION not_yet()`,
    );
  const switchTo = (verb: 'disable' | 'enable') =>
    platform.call('POST', `/projects/${platform.projectId}/destinations/inbox:${verb}`);
  const page = async () =>
    (await test.database.raw('SELECT page FROM read_run WHERE project_id = $1', [platform.projectId]))[0]?.[
      'page'
    ];
  const timesTold = async () =>
    (
      await platform.call<{ results: unknown[] }>(
        'GET',
        `/projects/${platform.projectId}/events?type=read.waiting&pageSize=100`,
      )
    ).body.results.length;

  it('tells once of each time that a read waits, with pages between', async () => {
    await holdBefore(2);
    await install(platform, 'hubspot-crm', 'acme', {
      read: { objects: { companies: { objectName: 'companies' } } },
    });
    await expect.poll(page, { timeout: 20_000 }).toBe(1);
    await switchTo('disable');
    await expect.poll(timesTold, { timeout: 20_000 }).toBe(1);
    await switchTo('enable');
    await holdBefore(3);
    await expect.poll(page, { timeout: 20_000 }).toBe(2);
    await switchTo('disable');
    await expect.poll(timesTold, { timeout: 20_000 }).toBe(2);
    await wait(1_500);
    expect(await timesTold()).toBe(2);
  }, 90_000);
});
