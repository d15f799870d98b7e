import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Deployed {
  id: string;
  name: string;
  warnings?: { rule: string; message: string; line: number }[];
}
interface Preview {
  integrations: { change: string; removed: string[] }[];
  warnings: { rule: string; message: string }[];
}

/** An integration with what it reads and writes, as text. */
const yaml = (read: string[], write: string[]): string =>
  [
    'specVersion: 1.0.0',
    'integrations:',
    '  - name: hubspot-crm',
    '    provider: hubspot',
    ...(read.length > 0 ? ['    read:', '      objects:', ...read.map((line) => `        - ${line}`)] : []),
    ...(write.length > 0
      ? ['    write:', '      objects:', ...write.map((line) => `        - ${line}`)]
      : []),
    '    proxy: { enabled: true }',
    '',
  ].join('\n');
const readContacts =
  '{ objectName: contacts, destination: d, optionalFieldsAuto: all, requiredFields: [{ fieldName: lastname, mapToName: surname }] }';
const contacts = '{ objectName: contacts, inheritMapping: true }';
const companies = '{ objectName: companies }';
const whole = yaml([readContacts], [contacts, companies]);
const config = {
  provider: 'hubspot',
  write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
};

describe('test/journeys/taken-away', () => {
  let test: TestDatabase;
  let platform: Platform;
  let first: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform, whole);
    first = await install(platform, 'hubspot-crm', 'first', config);
    await install(platform, 'hubspot-crm', 'second', { provider: 'hubspot' });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const batch = <Body>(sourceYaml: string, query = '') =>
    platform.call<Body>('PUT', `/projects/default/integrations:batch${query}`, { sourceYaml });
  const create = (customer: Customer, object: string, record: Record<string, unknown>) =>
    customer.write<ProblemBody>(object, { type: 'create', record });

  it('goes on for the installations that have it, as it was, and the deploy says so to whoever made it', async () => {
    const without = yaml([], [companies]);
    const message = expect.stringMatching(
      /write\.contacts, which 2 installations have \(1 of them in the config\)/,
    );
    const dry = await batch<Preview>(without, '?dryRun=true');
    expect(dry.body.warnings).toContainEqual(expect.objectContaining({ rule: 'object-taken-away', message }));

    const deployed = await batch<Deployed[]>(without);
    expect(deployed.status).toBe(200);
    // No config names the read object, so no installation loses it.
    expect(deployed.headers.get('x-svc-warnings')).toBe('1');
    expect(deployed.body[0]!.warnings).toEqual([
      expect.objectContaining({
        message,
        path: 'integrations[0].write',
        line: without.split('\n').findIndex((line) => /^ *write:/.test(line)) + 1,
      }),
    ]);

    const email = 'kept@example.com';
    // The mapping of the read object that went with it still holds.
    expect(await create(first, 'contacts', { email, surname: 'Kept' })).toMatchObject({ status: 200 });
    const made = (await effects(platform.hubspot, 'contacts')).filter(
      ({ fields }) => fields['email'] === email,
    );
    expect(made).toMatchObject([{ kind: 'create', fields: { email, lastname: 'Kept' } }]);
    const changed = await platform.call(
      'PATCH',
      `/projects/default/integrations/hubspot-crm/installations/${first.installationId}`,
      {
        updateMask: ['config.content.write.objects.contacts'],
        installation: {
          config: {
            content: {
              write: {
                objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: false } } },
              },
            },
          },
        },
      },
    );
    expect(changed.status).toBe(200);
    expect(await create(first, 'contacts', { email: 'after@example.com' })).toMatchObject({ status: 200 });
  });

  it('is not there for an installation that is made later', async () => {
    const late = await install(platform, 'hubspot-crm', 'late', { provider: 'hubspot' });
    const refused = await create(late, 'contacts', { email: 'late@example.com' });
    expect(refused).toMatchObject({ status: 404, body: { code: 'object-not-in-manifest' } });
  });

  it('stays through later deploys, and ends with a destructive one, also of the same manifest', async () => {
    const later = yaml([], [companies, '{ objectName: deals }']);
    const deployed = await batch<Deployed[]>(later);
    expect(deployed.body[0]).not.toHaveProperty('warnings');
    expect(await create(first, 'contacts', { email: 'through@example.com' })).toMatchObject({ status: 200 });

    const dry = await batch<Preview>(later, '?dryRun=true&destructive=true');
    expect(dry.body.integrations).toMatchObject([
      { change: 'updated', removed: ['read.contacts', 'write.contacts'] },
    ]);
    const ended = await platform.call<Deployed>(
      'POST',
      '/projects/default/integrations/hubspot-crm/revisions?destructive=true',
      { sourceYaml: later },
    );
    expect(ended.status).toBe(201);
    expect(ended.body.warnings).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining('its writes are refused there from now on'),
      }),
    );
    const refused = await create(first, 'contacts', { email: 'ended@example.com' });
    expect(refused).toMatchObject({ status: 404, body: { code: 'object-not-in-manifest' } });
    const again = await batch<Deployed[]>(later, '?destructive=true');
    expect(again.body[0]).not.toHaveProperty('warnings');
  });

  it('spells objects in any case, and leaves keys that begin with x- to the author', async () => {
    const noted = `x-note: { of: us }\n${yaml([], [contacts.replace('contacts', 'Contacts'), companies])}`;
    expect((await batch<Deployed[]>(noted)).status).toBe(200);
    expect(await create(first, 'CONTACTS', { email: 'case@example.com' })).toMatchObject({ status: 200 });
  });
});
