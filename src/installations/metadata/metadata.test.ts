import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { createHarness, type Body, type Harness } from '../harness.fixture.ts';
import type { HydratedRevision, ObjectMetadata } from './schema.ts';

let on: Harness;
let connectionId: string;
beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
  connectionId = await on.connect('acme');
});
afterAll(() => on?.close());

const ofIntegration = (object: string, query = '', groupRef = 'acme') =>
  on.call<ObjectMetadata & Body>(
    'GET',
    `/integrations/crm/objects/${object}/metadata?groupRef=${groupRef}${query}`,
  );
const revisionOf = async (integration: string) =>
  (await on.call<{ latestRevision: { id: string } }>('GET', `/integrations/${integration}`)).json
    .latestRevision.id;

describe('installations/metadata', () => {
  it('shows the fields of an object, by the provider’s name or the integration’s own', async () => {
    const byName = await ofIntegration('contacts');
    expect(byName.status).toBe(200);
    expect(byName.json).toMatchObject({
      name: 'contacts',
      mappedObjectName: 'people',
      fields: { email: { fieldName: 'email', displayName: 'Email', valueType: 'string' } },
    });
    expect((await ofIntegration('people')).json).toEqual(byName.json);
    const companies = (await ofIntegration('companies')).json;
    expect(companies.name).toBe('companies');
    expect(companies).not.toHaveProperty('mappedObjectName');
  });

  it('shows them through the provider alone, without the integration’s name', async () => {
    const { json } = await on.call('GET', '/providers/hubspot/objects/contacts/metadata?groupRef=acme');
    expect(Object.keys(json).toSorted()).toEqual(['displayName', 'fields', 'name']);
  });

  it('excludeReadOnly leaves away what cannot be written', async () => {
    const all = (await ofIntegration('contacts')).json.fields;
    const writable = (await ofIntegration('contacts', '&excludeReadOnly=true')).json.fields;
    const readOnly = Object.keys(all).filter((name) => all[name]?.readOnly === true);
    expect(readOnly.length).toBeGreaterThan(0);
    expect(Object.keys(writable)).toEqual(Object.keys(all).filter((name) => !readOnly.includes(name)));
  });

  it('says what is wrong: no group, no connection, no such object, a provider that throttles', async () => {
    expect((await on.call('GET', '/integrations/crm/objects/contacts/metadata')).json.issues).toMatchObject([
      { in: 'query', name: 'groupRef' },
    ]);
    expect((await ofIntegration('contacts', '', 'nobody')).json.code).toBe('no-usable-connection');
    expect(await ofIntegration('nosuchthing')).toMatchObject({ status: 404, json: { code: 'not-found' } });
    expect((await on.call('GET', '/providers/nothing/objects/x/metadata?groupRef=acme')).json.code).toBe(
      'provider-unknown',
    );
    await on.simulator('POST', 'faults', { path: '/crm/', times: 5, fault: { kind: 'status', status: 429 } });
    expect((await ofIntegration('contacts')).json.code).toBe('provider-rate-limited');
    await on.simulator('DELETE', 'faults');
  });

  it('hydrates a revision with labels and fields', async () => {
    const revisionId = await revisionOf('crm');
    const answer = await on.call<HydratedRevision>(
      'GET',
      `/integrations/crm/revisions/${revisionId}:hydrate?connectionId=${connectionId}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      id: revisionId,
      specVersion: '1.0.0',
      content: { name: 'crm', proxy: { enabled: true } },
    });
    const contacts = answer.json.content.read?.objects[0];
    expect(contacts).toMatchObject({
      objectName: 'contacts',
      mapToName: 'people',
      requiredFields: [
        { fieldName: 'email', displayName: 'Email' },
        { mapToName: 'nick', prompt: 'Which field holds the nickname?' },
      ],
      optionalFields: [{ fieldName: 'mobilephone', mapToName: 'cell', displayName: expect.any(String) }],
      allFieldsMetadata: { email: { valueType: 'string' } },
    });
    expect(contacts?.allFields).toContainEqual({ fieldName: 'email', displayName: 'Email' });
    expect(contacts?.error).toBeUndefined();
    expect(answer.json.content.write?.objects[0]).toMatchObject({
      objectName: 'contacts',
      inheritMapping: true,
      displayName: expect.any(String),
    });
  });

  it('an object that cannot be described carries its error, the others their fields', async () => {
    const revisionId = await revisionOf('broken');
    const { json } = await on.call<HydratedRevision>(
      'GET',
      `/integrations/broken/revisions/${revisionId}:hydrate?connectionId=${connectionId}`,
    );
    const [missing, contacts] = json.content.read?.objects ?? [];
    expect(missing?.error).toContain('nosuchthing');
    expect(missing).not.toHaveProperty('allFieldsMetadata');
    expect(missing).toMatchObject({
      displayName: 'nosuchthing',
      optionalFields: [{ fieldName: "$['a']['b']", displayName: 'a.b' }],
    });
    expect(json.content.write?.objects[0]?.displayName).toBe('nosuchthing');
    expect(contacts?.allFieldsMetadata?.['email']).toBeDefined();
    expect(json.content.write?.objects[0]?.error).toContain('nosuchthing');
  });

  it('optionalFieldsAuto stands for every field that is not named, and each field has a name to show', async () => {
    const revisionId = await revisionOf('broken');
    const { json } = await on.call<HydratedRevision>(
      'GET',
      `/integrations/broken/revisions/${revisionId}:hydrate?connectionId=${connectionId}`,
    );
    const contacts = json.content.read?.objects[1];
    const all = Object.values(contacts?.allFieldsMetadata ?? {});
    const [nested, ...rest] = contacts?.optionalFields ?? [];
    expect(nested).toEqual({ fieldName: "$['properties']['city']", displayName: 'properties.city' });
    expect(contacts?.optionalFieldsAuto).toBe('all');
    expect(contacts?.requiredFields).toEqual([{ fieldName: 'email', displayName: 'Email' }]);
    expect(rest).toEqual(
      all
        .filter(({ fieldName }) => fieldName !== 'email')
        .map(({ fieldName, displayName }) => ({ fieldName, displayName })),
    );
    expect(rest.length).toBeGreaterThan(3);
  });

  it('unknown revisions, connections and other groups’ connections are 404', async () => {
    const revisionId = await revisionOf('crm');
    const hydrate = (revision: string, connection: string, key?: string) =>
      on.call(
        'GET',
        `/integrations/crm/revisions/${revision}:hydrate?connectionId=${connection}`,
        undefined,
        key,
      );
    expect((await hydrate(connectionId, connectionId)).status).toBe(404);
    expect((await hydrate('latest', connectionId)).status).toBe(404);
    expect((await hydrate(revisionId, revisionId)).status).toBe(404);
    const key = await on.key({ scopes: ['frontend'], groupRef: 'other' });
    expect((await hydrate(revisionId, connectionId, key)).status).toBe(404);
  });
});
