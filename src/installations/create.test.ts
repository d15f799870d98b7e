import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from './harness.fixture.ts';

let on: Harness;
let connectionId: string;
beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
  connectionId = await on.connect('acme');
});
afterAll(() => on?.close());

const contacts = { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } };
const reading = (changed: object = {}) => ({
  provider: 'hubspot',
  read: { objects: { contacts: { ...contacts, ...changed } } },
});
const body = (content: object, changed: object = {}) => ({
  groupRef: 'acme',
  config: { content },
  ...changed,
});
const install = (given: object, query = '', integration = 'crm') =>
  on.call('POST', `/integrations/${integration}/installations${query}`, given);

async function rows(): Promise<{ installations: number; configs: number }> {
  const [counted] = await on.ground.database.raw(
    'SELECT (SELECT count(*)::int FROM installation) AS installations, (SELECT count(*)::int FROM config) AS configs',
  );
  return counted as { installations: number; configs: number };
}

async function refused(given: object, query = '', integration = 'crm') {
  const before = await rows();
  const answer = await install(given, query, integration);
  expect(await rows()).toEqual(before);
  return {
    status: answer.status,
    code: answer.json.code,
    issues: answer.json.issues?.map((issue: { name: string }) => issue.name),
  };
}

describe('installations/create', () => {
  it('§4.1 create: answers 201 with the installation, its group, connection and config', async () => {
    const content = {
      ...reading(),
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
    };
    const made = await install(body(content));
    expect(made.json).toMatchObject({
      projectId: on.projectId,
      group: { groupRef: 'acme', groupName: 'Group acme' },
      healthStatus: 'healthy',
      connection: { id: connectionId, provider: 'hubspot' },
      createdBy: 'api:create-installation',
      config: { createdBy: 'api:create-installation', content },
    });
    expect(made.status).toBe(201);
    expect(made.headers['deprecation']).toBeUndefined();
    expect(JSON.stringify(made.json)).not.toContain('accessToken');
    const place = `/integrations/crm/installations/${made.json.id}`;
    expect((await on.call('GET', place)).json).toMatchObject({ id: made.json.id, config: made.json.config });
    expect((await on.call('DELETE', place)).status).toBe(204);
    connectionId = await on.connect('acme');
  });

  it('§2.2 connectionId: takes the one named instead of the default', async () => {
    const older = await on.connect('two', 'first');
    const newer = await on.connect('two', 'second');
    const named = await install(body(reading(), { groupRef: 'two', connectionId: older }));
    expect(named.json.connection?.id).toBe(older);
    const other = await install(body({ provider: 'hubspot' }, { groupRef: 'two' }), '', 'other');
    expect(other.json.connection?.id).toBe(newer);
  });

  it('§2.2 connectionId: another group’s connection does not exist, nor does an unknown one', async () => {
    const foreign = await on.connect('stranger');
    expect(await refused(body(reading(), { connectionId: foreign }))).toMatchObject({
      status: 404,
      code: 'not-found',
    });
    expect(await refused(body(reading(), { connectionId: 'nothing' }))).toMatchObject({
      status: 404,
      code: 'not-found',
    });
  });

  it('§4.1 rule: without a usable connection it is refused, saying how to make one', async () => {
    const answer = await install(body(reading(), { groupRef: 'nobody' }));
    expect(answer).toMatchObject({ status: 422, json: { code: 'no-usable-connection' } });
    expect(answer.json.remedy).toContain('/v1/oauth-connect');
    const bad = await on.connect('bad');
    await on.connections.markBadCredentials(on.projectId, bad, 1, 'revoked');
    expect(await refused(body(reading(), { groupRef: 'bad' }))).toMatchObject({
      status: 422,
      code: 'no-usable-connection',
    });
  });

  it('§2.2 createdBy: kept in one of its forms, refused in another', async () => {
    expect(await refused(body({}, { config: { content: reading(), createdBy: 'me' } }))).toEqual({
      status: 422,
      code: 'config-invalid',
      issues: ['config.createdBy'],
    });
    await on.connect('author');
    const config = { content: reading(), createdBy: 'consumer:42' };
    const made = await install(body({}, { groupRef: 'author', config }));
    expect(made.json).toMatchObject({ createdBy: 'consumer:42', config: { createdBy: 'consumer:42' } });
  });

  it('§2.2 revisionId: is ignored with a Deprecation header; the latest revision counts', async () => {
    await on.connect('old');
    const made = await install(
      body({}, { groupRef: 'old', config: { content: reading(), revisionId: 'whatever' } }),
    );
    expect(made.status).toBe(201);
    expect(made.headers['deprecation']).toMatch(/^@\d+$/);
    const integration = await on.call<{ latestRevision: { id: string } }>('GET', '/integrations/crm');
    expect(made.json.config.revisionId).toBe(integration.json.latestRevision.id);
  });

  it('§2.5 selectedValueDefaults: stored as sent, with a Deprecation header', async () => {
    await on.connect('defaults');
    const selectedValueDefaults = { city: { value: 'Rome', applyOnUpdate: 'never' }, zip: { value: 5 } };
    const content = {
      provider: 'hubspot',
      write: { objects: { contacts: { objectName: 'contacts', selectedValueDefaults } } },
    };
    const made = await install(body(content, { groupRef: 'defaults' }));
    expect(made.json.config.content).toEqual(content);
    expect(made.headers['deprecation']).toBeDefined();
  });

  it('§4.1 create: a second installation for the same group is 409, also when both come at once', async () => {
    await on.connect('twice');
    const both = await Promise.all([1, 2].map(() => install(body(reading(), { groupRef: 'twice' }))));
    expect(both.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(await refused(body(reading(), { groupRef: 'twice' }))).toMatchObject({
      status: 409,
      code: 'already-exists',
    });
  });

  it('§2.2 body: unknown properties and wrong types are 400 with their path', async () => {
    expect(await refused({ ...body(reading({ schedule: 5, zip: 1 })), extra: true })).toEqual({
      status: 400,
      code: 'invalid-request',
      issues: [
        'extra',
        'config.content.read.objects.contacts.zip',
        'config.content.read.objects.contacts.schedule',
      ],
    });
    expect((await refused({ groupRef: 'acme' })).issues).toEqual(['config']);
  });

  it('§7.3 objectName, fieldName and operator are required', async () => {
    const fieldFilters = [{ value: 1 }];
    const content = {
      provider: 'hubspot',
      read: { objects: { contacts: { fieldFilters } } },
      write: { objects: { contacts: {} } },
    };
    expect((await refused(body(content))).issues).toEqual([
      'config.content.read.objects.contacts.objectName',
      'config.content.read.objects.contacts.fieldFilters[0].fieldName',
      'config.content.read.objects.contacts.fieldFilters[0].operator',
      'config.content.write.objects.contacts.objectName',
    ]);
  });

  it('§2.4 operator and selectedFieldsAuto: only their one value', async () => {
    const fieldFilters = [{ fieldName: 'city', operator: 'ne', value: 'x' }];
    expect((await refused(body(reading({ selectedFieldsAuto: 'some', fieldFilters })))).issues).toEqual([
      'config.content.read.objects.contacts.selectedFieldsAuto',
      'config.content.read.objects.contacts.fieldFilters[0].operator',
    ]);
  });

  it('§7.3 backfill: neither days nor fullHistory is refused with its path', async () => {
    expect(await refused(body(reading({ backfill: { defaultPeriod: {} } })))).toEqual({
      status: 422,
      code: 'config-invalid',
      issues: ['config.content.read.objects.contacts.backfill.defaultPeriod.days'],
    });
  });

  it('§4.1 create: a field that the provider does not have is refused with the nearest name', async () => {
    const content = {
      ...reading({ selectedFields: { lastnam: true }, selectedFieldMappings: { nick: 'nowhere' } }),
      write: {
        objects: {
          contacts: { objectName: 'contacts', selectedFieldSettings: { cell: {}, nick: {}, jobtitel: {} } },
        },
      },
    };
    const answer = await install(body(content));
    expect(answer).toMatchObject({ status: 422, json: { code: 'config-invalid' } });
    expect(answer.json.issues?.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'config.content.read.objects.contacts.selectedFields.lastnam: contacts has no field "lastnam" at the provider; did you mean "lastname"?',
      'config.content.read.objects.contacts.selectedFieldMappings.nick: contacts has no field "nowhere" at the provider',
      'config.content.write.objects.contacts.selectedFieldSettings.nick: contacts has no field "nowhere" at the provider',
      'config.content.write.objects.contacts.selectedFieldSettings.jobtitel: contacts has no field "jobtitel" at the provider; did you mean "jobtitle"?',
    ]);
  });

  it('§2.4 fieldFilters: refuses a date that is none, on create and on change', async () => {
    const groupRef = 'dated';
    await on.connect(groupRef);
    const dated = (value: string) =>
      reading({ fieldFilters: [{ fieldName: 'createdate', operator: 'eq', value }] });
    const refusal = {
      status: 422,
      json: {
        code: 'config-invalid',
        issues: [
          {
            name: 'config.content.read.objects.contacts.fieldFilters[0].value',
            detail: 'needs a datetime such as 2026-01-31T09:00:00Z',
          },
        ],
      },
    };
    expect(await install(body(dated('gestern'), { groupRef }))).toMatchObject(refusal);
    const made = await install(body(dated('2026-01-31'), { groupRef }));
    expect(made.status).toBe(201);
    const change = {
      updateMask: ['config.content.read.objects.contacts'],
      installation: { config: { content: dated('gestern') } },
    };
    expect(await on.call('PATCH', `/integrations/crm/installations/${made.json.id}`, change)).toMatchObject(
      refusal,
    );
  });

  it('§2.4 selectedFieldMappings: tells a mapping that stands the wrong way round, by what is asked and by what is there', async () => {
    const groupRef = 'reversed';
    await on.connect(groupRef);
    const said = async (selectedFieldMappings: object, more: object = {}) => {
      const { json } = await install(body(reading({ selectedFieldMappings, ...more }), { groupRef }));
      return json.issues?.map(({ name, detail }) => [name.split('.').at(-1), detail]) ?? json.warnings;
    };
    const other = "a mapping has your name first and the provider's behind it: did you mean";
    expect(await said({ firstname: 'nick' })).toEqual([
      [
        'nick',
        `is required: the integration asks the customer to map this field; ${other} {"nick":"firstname"}?`,
      ],
    ]);
    expect(await said({ nick: 'email', firstname: 'calledByOurs' })).toEqual([
      [
        'firstname',
        `contacts has no field "calledByOurs" at the provider; ${other} {"calledByOurs":"firstname"}?`,
      ],
    ]);
    // A name that is only mistyped stays what it is.
    expect(await said({ nick: 'email', email: 'emaill' })).toEqual([
      ['email', 'contacts has no field "emaill" at the provider; did you mean "email"?'],
    ]);
    // Both are fields of the provider: it can be meant, and is saved with a warning.
    const dynamicMappingsInput = [{ mapToName: 'phone' }];
    expect(await said({ nick: 'email', mobilephone: 'phone' }, { dynamicMappingsInput })).toEqual([
      {
        message: `config.content.read.objects.contacts.selectedFieldMappings.mobilephone: the integration asks for no mapping "mobilephone"; ${other} {"phone":"mobilephone"}?`,
      },
    ]);
  });

  it('§4.1 rule: refuses a connection whose credentials turn out to be dead while the provider is asked', async () => {
    await on.connect('dying');
    await on.simulator('POST', '/tokens', { action: 'revoke' });
    await on.simulator('POST', '/tokens', { action: 'expire' });
    const before = await rows();
    const answer = await install(body(reading(), { groupRef: 'dying' }));
    expect([answer.status, answer.json.code]).toEqual([422, 'no-usable-connection']);
    expect(await rows()).toEqual(before);
    connectionId = await on.connect('acme');
  });

  it('§4.1 sample: an object that the provider does not have is refused with its words; nothing is saved', async () => {
    const objects = { x: { objectName: 'nosuchthing', schedule: '0 * * * *', selectedFieldsAuto: 'all' } };
    const content = { provider: 'hubspot', read: { objects } };
    expect(await refused(body(content), '', 'broken')).toEqual({
      status: 422,
      code: 'sample-read-failed',
      issues: ['config.content.read.objects.x'],
    });
  });

  it('§4.1 sample: a field that the manifest requires and the account lacks blocks nothing, and is warned of', async () => {
    const sourceYaml = `specVersion: 1.0.0
integrations:
  - name: demanding
    provider: hubspot
    read:
      objects:
        - { objectName: contacts, destination: hook, schedule: '0 * * * *', requiredFields: [{ fieldName: does_not_exist }], optionalFieldsAuto: all }
`;
    await on.call('PUT', '/integrations:batch', { sourceYaml });
    await on.connect('lacking');
    const content = (selectedFields: object) => ({
      provider: 'hubspot',
      read: { objects: { contacts: { objectName: 'contacts', selectedFields } } },
    });
    const made = await install(body(content({ city: true }), { groupRef: 'lacking' }), '', 'demanding');
    expect([made.status, made.json.warnings]).toEqual([
      201,
      [{ message: expect.stringContaining('does_not_exist') as string }],
    ]);
    const changed = await on.call('PATCH', `/integrations/demanding/installations/${made.json.id}`, {
      updateMask: ['config.content.read.objects.contacts'],
      installation: { config: { content: content({ city: true, phone: true }) } },
    });
    expect(changed.status).toBe(200);
  });

  it('§4.1 skipSampling: saves without asking the provider', async () => {
    await on.connect('skipper');
    await on.simulator('DELETE', 'requests');
    const content = {
      provider: 'hubspot',
      read: {
        objects: { contacts: { ...contacts, schedule: '0 * * * *', selectedFields: { nowhere: true } } },
      },
    };
    const made = await install(body(content, { groupRef: 'skipper' }), '?skipSampling=true');
    expect(made.status).toBe(201);
    expect(await on.simulator('GET', 'requests?path=/crm/')).toEqual({ requests: [] });
  });

  it.each([
    { kind: 'status', status: 429 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 403 },
    { kind: 'reset-before' },
  ])('§4.1 sample: a provider that answers %j does not block', async (fault) => {
    const groupRef = `fault-${fault.status ?? fault.kind}`;
    await on.connect(groupRef);
    await on.simulator('POST', 'faults', { path: '/crm/', times: 20, fault });
    const made = await install(
      body(reading({ schedule: '0 * * * *', selectedFields: { nowhere: true } }), { groupRef }),
    );
    await on.simulator('DELETE', 'faults');
    expect(made.status).toBe(201);
  });

  it('accepts a subscription, which has no effect yet', async () => {
    await on.connect('subscriber');
    const subscribe = {
      objects: {
        contacts: {
          objectName: 'contacts',
          destination: 'hook',
          updateEvent: { enabled: 'always', watchFieldsAuto: 'all' },
        },
      },
    };
    const made = await install(body({ provider: 'hubspot', subscribe }, { groupRef: 'subscriber' }));
    expect(made.json.config.content).toEqual({ provider: 'hubspot', subscribe });
  });

  it('§4.1 create: an unknown integration or project is 404', async () => {
    expect((await install(body(reading()), '', 'nothing')).status).toBe(404);
  });
});
