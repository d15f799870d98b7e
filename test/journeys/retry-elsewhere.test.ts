import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, during, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

/** What is written again under its key goes where it was to go, or nowhere (docs/errors/connection-changed.md). */
describe('test/journeys/retry-elsewhere', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const path = '/projects/default/integrations/salesforce-crm/installations/';
  const record = { id: '001000000000999AAA', Name: 'w' };
  /** An update that fails, since there is no such record; again under the same key. */
  const writeAgain = (customer: Customer) =>
    customer.write<ProblemBody>(
      'Account',
      { type: 'update', record },
      { headers: { 'idempotency-key': customer.installationId, 'retry-failed': 'true' } },
    );
  const again = async (customer: Customer): Promise<[status: number, code: unknown, calls: number]> => {
    const { result, requests } = await during(platform.salesforce, () => writeAgain(customer));
    return [result.status, result.body.code, requests.length];
  };

  it('another account gets nothing under a key, and a colleague’s connection to the same one does', async () => {
    const moved = await install(platform, 'salesforce-crm', 'moved');
    const use = async (connectionId: string): Promise<void> => {
      const body = { updateMask: ['connectionId'], installation: { connectionId } };
      expect((await platform.call('PATCH', path + moved.installationId, body)).status).toBe(200);
    };
    expect(await writeAgain(moved)).toMatchObject({ status: 422 });
    await use(await connect(platform, 'salesforce', 'moved', { account: 'elsewhere' }));
    expect(await again(moved)).toEqual([409, 'connection-changed', 0]);
    await use(await connect(platform, 'salesforce', 'moved', { consumerRef: 'colleague' }));
    expect(await again(moved)).toEqual([422, undefined, 1]);
  });

  it('another installation of the group does nothing under the key of one that was deleted', async () => {
    const late = await install(platform, 'salesforce-crm', 'late');
    expect(await writeAgain(late)).toMatchObject({ status: 422 });
    await platform.call('DELETE', path + late.installationId);
    await install(platform, 'salesforce-crm', 'late');
    expect(await again(late)).toEqual([404, 'installation-not-found', 0]);
  });
});
