import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, fault, type InstallationBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/install-unanswered', () => {
  let test: TestDatabase;
  let platform: Platform;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, records: 3 });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it.each(['null', '[]'])(
    'fields that a provider answers as %s are no fields that are missing',
    async (body) => {
      const groupRef = `broken-${body.length}`;
      await connect(platform, 'hubspot', groupRef);
      const answer = { kind: 'status', status: 200, body: JSON.parse(body) as unknown };
      await fault(platform.hubspot, { path: '/properties/', fault: answer });
      const objects = { contacts: { objectName: 'contacts', selectedFields: { email: true } } };
      const made = await platform.call<InstallationBody>(
        'POST',
        '/projects/default/integrations/hubspot-crm/installations',
        { groupRef, config: { content: { provider: 'hubspot', read: { objects } } } },
      );
      const warnings = [{ message: expect.stringContaining('was not verified') }];
      expect(made).toMatchObject({ status: 201, body: { warnings } });
    },
  );
});
