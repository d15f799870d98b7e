import { afterEach, describe, expect, it } from 'vitest';
import { migrateDatabase } from '../../src/app.ts';
import { createLog } from '../../src/kit/log.ts';
import { connect, type OperationBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { catalogueOf } from './catalogue.ts';
import { released } from './released.ts';

/** Of the first key in the dump. */
const firstKey = 'svc_ee8bc5a64c09ad3e_SSVa-YQeVdUXKb-JxSKCevs5yPDfc23eLDog';
const upgrade = (test: TestDatabase): Promise<string[]> => migrateDatabase(test.url, createLog('silent'));

describe('a database of the release before', () => {
  let test: TestDatabase;
  let platform: Platform | undefined;
  afterEach(async () => {
    await platform?.stop();
    platform = undefined;
    await test?.drop();
  });

  it('has the schema of a new one after the upgrade', async () => {
    test = await released();
    await upgrade(test);
    // The clock of `released` is shifted to the time of the dump; that of a new database is not.
    await test.database.raw(`UPDATE clock SET shift = '0'`);
    const fresh = await createTestDatabase();
    expect(await catalogueOf(test.database)).toEqual(await catalogueOf(fresh.database));
    await fresh.drop();
    expect(await upgrade(test)).toEqual([]);
  }, 60_000);

  it('numbers its messages from the time on, and so above those of any server that a project was on before', async () => {
    test = await released();
    const before = Date.now();
    await upgrade(test);
    const [row] = await test.database.raw('SELECT last_value::float8 AS latest FROM message_seq');
    expect(row?.['latest']).toBeGreaterThan(before * 1_000);
  }, 60_000);

  it('is refused when it is of a release before that', async () => {
    test = await released();
    await test.database.raw(`DELETE FROM migrations WHERE version > 20`);
    await expect(upgrade(test)).rejects.toThrow(
      'The database ends at migration 0020-deliveries, and this release begins after 0022-home. Start the release whose migrations end at 0022-home once, then this one.',
    );
  });

  it('works: what ended is there, what waited goes on, and more can be written', async () => {
    test = await released();
    const ids = await test.database.raw('SELECT id, total, status FROM operation ORDER BY id');
    const waiting = ids.filter(({ status }) => status === 'in_progress');
    const node = await startPlatform({ databaseUrl: test.url, env: { SVC_BOOTSTRAP_API_KEY: firstKey } });
    platform = node;
    const base = '/projects/default/';
    const statusOf = async (id: unknown): Promise<string> =>
      (await node.call<OperationBody>('GET', `${base}operations/${String(id)}`)).body.status;
    for (const { id, status } of ids.filter((one) => !waiting.includes(one)))
      expect(await statusOf(id)).toBe(status);
    const records = await node.call<{ results: { recordId?: string }[] }>(
      'GET',
      `${base}operations/${String(ids.find(({ total }) => total === 2)?.['id'])}/records`,
    );
    expect(records.body.results.map(({ recordId }) => recordId)).toEqual(['505', '506']);
    const deliveries = await node.call<{ results: { status: string }[] }>('GET', `${base}deliveries`);
    expect(deliveries.body.results.map(({ status }) => status).toSorted()).toEqual(['delivered', 'pending']);

    // The provider is another one than that of the dump, and knows none of its tokens.
    await connect(node, 'hubspot', 'acme');
    const written = await node.call<{ result: { success: boolean } }>(
      'POST',
      `/write/v1${base}integrations/hubspot-crm/objects/contacts`,
      { groupRef: 'acme', type: 'create', record: { email: 'after@example.com' } },
    );
    expect(written).toMatchObject({ status: 200, body: { result: { success: true } } });
    // The batches leave after an hour.
    await test.database.raw(`UPDATE clock SET shift = shift + interval '60 minutes'`);
    const ended = (): Promise<string[]> => Promise.all(waiting.map(({ id }) => statusOf(id)));
    expect(waiting).toHaveLength(4);
    await expect.poll(ended, { timeout: 30_000 }).not.toContain('in_progress');
  }, 60_000);
});
