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
    'fields that a provider answers as %s are not reported as missing',
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

  it('a refusal for missing scopes is reported as such, on create and on update', async () => {
    const apps = '/projects/default/provider-apps';
    const app = await platform.call<{ id: string; provider: string }[]>('GET', apps);
    const { id } = app.body.find(({ provider }) => provider === 'hubspot')!;
    const narrowed = await platform.call('PATCH', `${apps}/${id}`, {
      updateMask: ['scopes'],
      providerApp: { scopes: ['oauth', 'crm.objects.deals.read'] },
    });
    expect([narrowed.status, narrowed.text]).toEqual([200, narrowed.text]);
    await connect(platform, 'hubspot', 'narrow');
    const url = '/projects/default/integrations/hubspot-crm/installations';
    const content = (...fields: string[]) => {
      const selectedFields = Object.fromEntries(fields.map((field) => [field, true]));
      return {
        provider: 'hubspot',
        read: { objects: { contacts: { objectName: 'contacts', selectedFields } } },
      };
    };
    const made = await platform.call<InstallationBody>('POST', url, {
      groupRef: 'narrow',
      config: { content: content('email') },
    });
    const told =
      /^The provider did not show contacts: HubSpot answered 403: .*crm.schemas.contacts.read.*not verified. .* connect again with the scopes/;
    const warnings = [{ message: expect.stringMatching(told) }];
    expect(made).toMatchObject({ status: 201, body: { warnings } });
    const saved = await platform.call<InstallationBody>('PATCH', `${url}/${made.body.id}`, {
      updateMask: ['config.content'],
      installation: { config: { content: content('email', 'city') } },
    });
    expect(saved).toMatchObject({ status: 200, body: { warnings } });
  });
});
