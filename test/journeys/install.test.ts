import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  deploy,
  during,
  fault,
  simulator,
  type InstallationBody as Installation,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

interface Hydrated {
  content: {
    read: { objects: { allFieldsMetadata: Record<string, unknown> }[] };
    write: { objects: { objectName: string }[] };
  };
}

const absentId = '0192f0c1-0000-7000-8000-000000000000';

describe('test/journeys/install', () => {
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

  const base = (integration = 'hubspot-crm') => `/projects/default/integrations/${integration}`;
  const create = <Body = Installation>(
    groupRef: string,
    content: Record<string, unknown> = { provider: 'hubspot' },
    extra: Record<string, unknown> = {},
    query = '',
  ): Promise<Answer<Body>> => {
    const { config, ...others } = extra as { config?: Record<string, unknown> };
    return platform.call('POST', `${base()}/installations${query}`, {
      groupRef,
      config: { content, ...config },
      ...others,
    });
  };
  const installed = async (groupRef: string, content?: Record<string, unknown>): Promise<Installation> => {
    await connect(platform, 'hubspot', groupRef);
    const made = await create(groupRef, content);
    if (made.status !== 201) throw new Error(made.text);
    return made.body;
  };
  const get = (id: string) => platform.call<Installation>('GET', `${base()}/installations/${id}`);

  it('§4.1, §2.2 an installation binds integration, group and connection with a config', async () => {
    const connectionId = await connect(platform, 'hubspot', 'first');
    const content = {
      provider: 'hubspot',
      read: {
        objects: {
          contacts: {
            objectName: 'contacts',
            schedule: '*/30 * * * *',
            destination: 'd',
            selectedFields: { email: true, firstname: true, city: false },
            selectedFieldMappings: { phone: 'mobilephone' },
            selectedValueMappings: { lifecyclestage: { New: 'lead' } },
            dynamicMappingsInput: [
              {
                mapToName: 'level',
                mapToDisplayName: 'Level',
                prompt: 'Which?',
                fieldName: 'jobtitle',
                mappedValues: [{ mappedValue: 'a', mappedDisplayValue: 'A' }],
              },
            ],
            backfill: {
              defaultPeriod: { days: 0 },
              fieldFilters: [{ fieldName: 'city', operator: 'eq', value: 'Bern' }],
            },
            fieldFilters: [{ fieldName: 'city', operator: 'eq', value: 'Bern' }],
          },
        },
      },
      write: {
        objects: {
          contacts: {
            objectName: 'contacts',
            inheritMapping: false,
            deletionSettings: { enabled: true },
            selectedFieldSettings: {
              jobtitle: {
                default: { stringValue: 'Engineer' },
                writeOnCreate: 'always',
                writeOnUpdate: 'ifEmpty',
              },
            },
          },
        },
      },
      proxy: { enabled: true },
    };
    const made = await create('first', content, { connectionId, config: { createdBy: 'consumer:ada' } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      projectId: platform.projectId,
      group: { groupRef: 'first' },
      connection: { id: connectionId, provider: 'hubspot' },
      healthStatus: 'healthy',
      createdBy: 'consumer:ada',
      config: { createdBy: 'consumer:ada' },
    });
    expect(made.body.config.content).toEqual(content);
    // The connection becomes `working` with the first call that succeeds, a moment later.
    const { connection, ...installation } = (await get(made.body.id)).body;
    const { connection: connectionThen, warnings, ...installationThen } = made.body;
    expect(warnings).toEqual([{ message: expect.stringContaining('there is no destination d;') }]);
    expect(installation).toEqual(installationThen);
    expect(connection?.id).toBe(connectionThen?.id);
  });

  it('§2.2 without a connectionId the group’s default connection is used, the newest that works', async () => {
    await connect(platform, 'hubspot', 'default');
    const newest = await connect(platform, 'hubspot', 'default');
    const made = await create('default');
    expect(made).toMatchObject({
      status: 201,
      body: { connection: { id: newest }, createdBy: 'api:create-installation' },
    });
  });

  it('§4.1 a group without a connection is refused with the way to make one', async () => {
    const refused = await create<ProblemBody>('stranger');
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'no-usable-connection', remedy: expect.stringContaining('oauth-connect') },
    });
    const named = await create<ProblemBody>('stranger', undefined, { connectionId: absentId });
    expect(named).toMatchObject({ status: 404 });
  });

  it('§2.2 refuses the connection of another group and of another provider', async () => {
    const others = await connect(platform, 'hubspot', 'owner');
    expect(await create('thief', undefined, { connectionId: others })).toMatchObject({ status: 404 });
    const salesforce = await connect(platform, 'salesforce', 'owner');
    expect(await create('owner', undefined, { connectionId: salesforce })).toMatchObject({
      status: 422,
      body: { code: 'connection-provider-mismatch' },
    });
  });

  it('a group has one installation of an integration', async () => {
    const { id } = await installed('twice');
    expect(await create('twice')).toMatchObject({
      status: 409,
      body: { code: 'already-exists', remedy: expect.stringContaining('PATCH') },
    });
    const found = await platform.call<Installation[]>('GET', `${base()}/installations?groupRef=twice`);
    expect(found.body.map((one) => one.id)).toEqual([id]);
    await connect(platform, 'hubspot', 'race');
    const both = await Promise.all([create('race'), create('race'), create('race')]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  });

  it('§2.2 config.revisionId is accepted, ignored and named deprecated', async () => {
    await connect(platform, 'hubspot', 'revision');
    const made = await create('revision', undefined, { config: { revisionId: absentId } });
    const integration = await platform.call<{ latestRevision: { id: string } }>('GET', base());
    expect(made.body.config.revisionId).toBe(integration.body.latestRevision.id);
    expect(made.headers.get('deprecation')).toBeTruthy();
  });

  it('§4.1 the sample read refuses what the provider refuses, and skipSampling saves all the same', async () => {
    await connect(platform, 'hubspot', 'sample');
    const content = {
      provider: 'hubspot',
      read: { objects: { contacts: { objectName: 'contacts', schedule: '0 * * * *' } } },
    };
    const body = { status: 'error', message: 'You cannot read this.', category: 'VALIDATION_ERROR' };
    await fault(platform.hubspot, { path: '/objects/', fault: { kind: 'status', status: 400, body } });
    const refused = await create<ProblemBody>('sample', content);
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'sample-read-failed',
        issues: [{ name: 'config.content.read.objects.contacts' }],
        provider: { message: 'You cannot read this.' },
      },
    });
    expect(
      (await platform.call<Installation[]>('GET', `${base()}/installations?groupRef=sample`)).body,
    ).toEqual([]);
    const skipped = await during(platform.hubspot, () => create('sample', content, {}, '?skipSampling=true'));
    expect(skipped.result.status).toBe(201);
    expect(skipped.requests).toEqual([]);
  });

  it('an outage of the provider does not keep an installation from being made', async () => {
    await connect(platform, 'hubspot', 'outage');
    const content = {
      provider: 'hubspot',
      read: { objects: { contacts: { objectName: 'contacts', schedule: '0 * * * *' } } },
    };
    await fault(platform.hubspot, { path: '/objects/', times: 5, fault: { kind: 'status', status: 503 } });
    const body = { warnings: [{ message: expect.stringContaining('was not verified') }] };
    expect(await create('outage', content)).toMatchObject({ status: 201, body });
    await simulator(platform.hubspot, 'DELETE', '/faults');
  });
  it('installations are listed by project, integration and group', async () => {
    const made = await installed('listed');
    for (const path of ['/projects/default/installations', `${base()}/installations`]) {
      const all = await platform.call<Installation[]>('GET', path);
      expect(all.body.length).toBeGreaterThan(1);
      const mine = await platform.call<Installation[]>('GET', `${path}?groupRef=listed`);
      expect(mine.body).toEqual([made]);
    }
    expect(await platform.call('GET', `${base('salesforce-crm')}/installations/${made.id}`)).toMatchObject({
      status: 404,
    });
    expect(await platform.call('GET', `${base('nothing')}/installations`)).toMatchObject({ status: 404 });
  });

  it('a deleted installation is gone, with its connection unless another installation uses it', async () => {
    const made = await installed('deleted');
    const connection = `/projects/default/connections/${made.connection.id}`;
    const other = await platform.call<Installation>('POST', `${base('hubspot-no-proxy')}/installations`, {
      groupRef: 'deleted',
      config: { content: { provider: 'hubspot' } },
    });
    expect(await platform.call('DELETE', `${base()}/installations/${made.id}`)).toMatchObject({
      status: 204,
      text: '',
    });
    expect((await get(made.id)).status).toBe(404);
    expect((await platform.call('GET', connection)).status).toBe(200);
    await platform.call('DELETE', `${base('hubspot-no-proxy')}/installations/${other.body.id}`);
    expect((await platform.call('GET', connection)).status).toBe(404);
    expect((await platform.call('DELETE', `${base()}/installations/${made.id}`)).status).toBe(404);
  });

  it('object metadata shows the customer’s fields; read-only ones can be left away', async () => {
    await installed('metadata');
    const path = `${base()}/objects/contacts/metadata?groupRef=metadata`;
    const found = await platform.call<{
      name: string;
      fields: Record<string, { valueType: string; readOnly?: boolean }>;
    }>('GET', path);
    expect(found).toMatchObject({
      status: 200,
      body: { name: 'contacts', fields: { email: { fieldName: 'email', valueType: 'string' } } },
    });
    const writable = await platform.call<typeof found.body>('GET', `${path}&excludeReadOnly=true`);
    expect(Object.values(writable.body.fields).some(({ readOnly }) => readOnly)).toBe(false);
    expect(Object.keys(writable.body.fields).length).toBeLessThan(Object.keys(found.body.fields).length);
    expect(
      await platform.call(
        'GET',
        `/projects/default/providers/hubspot/objects/companies/metadata?groupRef=metadata`,
      ),
    ).toMatchObject({ status: 200 });
    expect(await platform.call('GET', `${base()}/objects/contacts/metadata`)).toMatchObject({
      status: 400,
      body: { issues: [{ in: 'query', name: 'groupRef' }] },
    });
    expect((await platform.call('GET', `${base()}/objects/nothings/metadata?groupRef=metadata`)).status).toBe(
      404,
    );
    expect(
      (await platform.call('GET', `${base()}/objects/contacts/metadata?groupRef=nobody`)).status,
    ).toBeGreaterThanOrEqual(404);
  });

  it('a hydrated revision holds the manifest with the live names; one object’s failure is its own', async () => {
    const made = await installed('hydrated');
    const path = `${base()}/revisions/${made.config.revisionId}:hydrate`;
    const found = await platform.call<Hydrated>('GET', `${path}?connectionId=${made.connection.id}`);
    expect(found.status).toBe(200);
    const contacts = found.body.content.read.objects[0];
    expect(contacts).toMatchObject({
      objectName: 'contacts',
      requiredFields: [{ fieldName: 'email', displayName: 'Email' }],
    });
    expect(contacts?.allFieldsMetadata['email']).toMatchObject({ fieldName: 'email' });
    expect(found.body.content.write.objects.map((object) => object.objectName)).toEqual([
      'contacts',
      'companies',
    ]);
    expect(await platform.call('GET', path)).toMatchObject({ status: 400 });
    expect(await platform.call('GET', `${path}?connectionId=${absentId}`)).toMatchObject({ status: 404 });
  });
});
