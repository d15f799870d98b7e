import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, during, type InstallationBody, type ProblemBody } from '../customer.ts';
import { accepted, contactsRead, fieldSetting, refusals } from '../config-cases.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: mapped
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: d
          requiredFields: [{ fieldName: email }, { mapToName: phone }]
        - objectName: companies
          destination: d
    write: { objects: [{ objectName: contacts }] }
`;

describe('test/journeys/install-config', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform, manifest);
    await connect(platform, 'hubspot', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const installations = '/projects/default/integrations/mapped/installations';
  const create = <Body>(
    content: Record<string, unknown>,
    more: Record<string, unknown> = {},
    groupRef = 'acme',
  ) =>
    platform.call<Body>('POST', installations, {
      groupRef,
      config: { content: { provider: 'hubspot', ...content }, ...more },
    });

  it('is saved with a warning where a destination of it is not there', async () => {
    type Saved = InstallationBody & { warnings?: { message: string }[] };
    const read = (destination: string): object => ({
      objects: { companies: { objectName: 'companies', selectedFieldsAuto: 'all', destination } },
    });
    await connect(platform, 'hubspot', 'lost');
    const made = await create<Saved>({ read: read('nowhere') }, {}, 'lost');
    const warning = {
      message: expect.stringMatching(
        /^config\.content\.read\.objects\.companies\.destination: .*nowhere/,
      ) as string,
    };
    expect([made.status, made.body.warnings]).toEqual([201, [warning]]);
    const at = `${installations}/${made.body.id}`;
    const change = (destination: string) =>
      platform.call<Saved>('PATCH', at, {
        updateMask: ['config.content.read.objects.companies'],
        installation: { config: { content: { read: read(destination) } } },
      });
    expect((await change('nowhere')).body.warnings).toEqual([warning]);
    const there = { name: 'there', type: 'webhook', metadata: { url: 'http://127.0.0.1:9/' } };
    expect((await platform.call('POST', '/projects/default/destinations', there)).status).toBe(201);
    expect((await change('there')).body.warnings).toBeUndefined();
    await platform.call('DELETE', at);
  });

  it.each(refusals)(
    '%s is refused, with its path; nothing is saved',
    async (_title, content, name, status) => {
      const { result: refused, requests } = await during(platform.hubspot, () =>
        create<ProblemBody>(content),
      );
      expect(refused).toMatchObject({
        status,
        body: { code: status === 400 ? 'invalid-request' : 'config-invalid' },
      });
      expect(refused.body.issues?.map((issue) => [issue.in, issue.name])).toEqual([['body', name]]);
      expect(refused.body.issues?.[0]?.detail).not.toBe('');
      expect(requests.filter(({ method, path }) => method !== 'GET' && !path.includes('/search'))).toEqual(
        [],
      );
      expect((await platform.call('GET', installations)).body).toEqual([]);
    },
  );

  it.each(accepted)('%s is accepted and kept as it was sent', async (_title, content) => {
    const made = await create<InstallationBody>(content);
    expect(made.status).toBe(201);
    expect(made.body.config.content).toEqual({ provider: 'hubspot', ...content });
    await platform.call('DELETE', `${installations}/${made.body.id}`);
    await connect(platform, 'hubspot', 'acme');
  });

  it.each(['consumer:ada', 'builder:bob', 'api:job 7'])(
    '§2.2 createdBy %s is accepted',
    async (createdBy) => {
      const groupRef = `by-${createdBy.split(':')[0]}`;
      await connect(platform, 'hubspot', groupRef);
      const made = await create<InstallationBody>({}, { createdBy }, groupRef);
      expect(made).toMatchObject({ status: 201, body: { createdBy, config: { createdBy } } });
    },
  );

  it.each(['ada', 'user:ada', 'consumer:', 'consumer: '])(
    '§2.2 createdBy "%s" is refused',
    async (createdBy) => {
      const refused = await create<ProblemBody>({}, { createdBy });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.body.issues).toMatchObject([{ name: 'config.createdBy' }]);
    },
  );

  it('§2.2 groupRef, config and config.content are required', async () => {
    const post = (body: unknown) => platform.call<ProblemBody>('POST', installations, body);
    const content = { provider: 'hubspot' };
    expect((await post({ config: { content } })).body.issues).toMatchObject([{ name: 'groupRef' }]);
    expect((await post({ groupRef: 'acme' })).body.issues).toMatchObject([{ name: 'config' }]);
    expect((await post({ groupRef: 'acme', config: {} })).body.issues).toMatchObject([
      { name: 'config.content' },
    ]);
    expect((await post({ groupRef: 'acme', config: { content: {} } })).body.issues).toMatchObject([
      { name: 'config.content.provider' },
    ]);
  });

  it('every fault of a config is named at once', async () => {
    const refused = await create<ProblemBody>({
      ...contactsRead({ schedule: 'x', selectedFieldMappings: {} }),
      ...fieldSetting({ default: { stringValue: 'a', integerValue: 1 } }),
    });
    expect(refused.body.issues).toHaveLength(3);
  });
});
