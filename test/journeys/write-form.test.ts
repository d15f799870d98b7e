import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const write = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';

describe('test/journeys/write-form', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const told = async (path: string, groupRef: string): Promise<ProblemBody> =>
    (await platform.call<ProblemBody>('POST', path, { groupRef, type: 'create', record: {} })).body;

  it('a write is told which Content-Type came', async () => {
    const headers = { 'content-type': 'text/csv' };
    const answer = await platform.call<ProblemBody>('POST', write, 'a,b', { headers });
    expect(answer).toMatchObject({
      status: 415,
      body: { detail: 'The body came as text/csv, which is not taken here.' },
    });
  });

  it('a write is told where its NUL character stands, and what of its query belongs in the body', async () => {
    expect((await told(write.replace('hubspot-crm', 'a%00b'), 'acme')).issues).toMatchObject([
      { in: 'path', name: 'integrationId' },
    ]);
    expect((await told(`${write}?groupRef=acme`, 'acme')).issues).toMatchObject([
      { in: 'query', name: 'groupRef', detail: 'belongs in the body, not in the query' },
    ]);
  });

  it.each(['acme ', '\tacme', 'ac\u0001me'])(
    'a reference that no group can have is told as such: %j',
    async (groupRef) => {
      expect(await told(write, groupRef)).toMatchObject({
        code: 'installation-not-found',
        remedy:
          'Correct the reference of the group: it must neither begin nor end with white space, nor hold control characters.',
      });
      expect((await told(write, 'acme2')).remedy).toMatch(/^Create an installation/);
    },
  );
});
