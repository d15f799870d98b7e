import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/projects/keys/key-form.ts';
import { connect, deploy, during, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

describe('test/journeys/spec-surfaces', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let integrationId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    const found = await platform.call<{ id: string }>('GET', '/projects/default/integrations/hubspot-crm');
    integrationId = found.body.id;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const record = (name: string) => ({
    groupRef: 'acme',
    type: 'create',
    record: { email: `${name}@example.com` },
  });
  const objects = (project: string, integration: string) =>
    `/projects/${project}/integrations/${integration}/objects/contacts`;

  it('§4.1, §4.2, §4.3 a project and an integration go by id and by name', async () => {
    let count = 0;
    for (const project of ['default', platform.projectId]) {
      for (const integration of ['hubspot-crm', integrationId]) {
        const groupRef = `named-${++count}`;
        await connect(platform, 'hubspot', groupRef);
        const made = await platform.call<{ id: string }>(
          'POST',
          `/projects/${project}/integrations/${integration}/installations`,
          { groupRef, config: { content: { provider: 'hubspot' } } },
        );
        expect(made.status).toBe(201);
        const written = await platform.call<{ operationId: string }>(
          'POST',
          `/write/v1${objects(project, integration)}`,
          { ...record(groupRef), groupRef },
        );
        expect(written.status).toBe(200);
        const read = await platform.call(
          'GET',
          `/projects/${project}/operations/${written.body.operationId}`,
        );
        expect(read).toMatchObject({ status: 200, body: { installationId: made.body.id, integrationId } });
      }
    }
  });

  it('§4.1 skipSampling: must be a boolean', async () => {
    const refused = await platform.call<ProblemBody>(
      'POST',
      '/projects/default/integrations/hubspot-crm/installations?skipSampling=perhaps',
      { groupRef: 'sampled', config: { content: { provider: 'hubspot' } } },
    );
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ in: 'query', name: 'skipSampling' }] } });
  });

  it('§2.1, §4.2 an object that the provider does not have is refused by the write, and nothing is written', async () => {
    const manifest = `specVersion: 1.0.0
integrations:
  - name: mistaken
    provider: hubspot
    write: { objects: [{ objectName: nosuchthings }] }
`;
    await platform.call('PUT', '/projects/default/integrations:batch', { sourceYaml: manifest });
    await connect(platform, 'hubspot', 'mistaken');
    const made = await platform.call('POST', '/projects/default/integrations/mistaken/installations', {
      groupRef: 'mistaken',
      config: { content: { provider: 'hubspot' } },
    });
    expect(made.status).toBe(201);
    const { result, requests } = await during(platform.hubspot, () =>
      platform.call('POST', '/write/v1/projects/default/integrations/mistaken/objects/nosuchthings', {
        groupRef: 'mistaken',
        type: 'create',
        record: { name: 'x' },
      }),
    );
    expect(result).toMatchObject({
      status: 422,
      body: { result: { success: false }, errors: [{ category: 'notFound', retryable: false }] },
    });
    expect(requests.map(({ status }) => status)).toEqual([400]);
  });

  it.each<[string, { key: string | null; headers?: Record<string, string> }]>([
    ['without a key', { key: null }],
    ['with text that is no key', { key: 'hello' }],
    ['with a key that nobody issued', { key: generateApiKey().key }],
    ['with a bearer that is none', { key: null, headers: { authorization: 'Bearer hello' } }],
  ])('§5 management and write calls %s are 401, and nothing is sent', async (_name, options) => {
    const calls: [string, string, object?][] = [
      ['GET', '/projects/default/integrations'],
      ['GET', `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`],
      ['POST', `/write/v1${objects('default', 'hubspot-crm')}`, record('nobody')],
    ];
    const { result, requests } = await during(platform.hubspot, () =>
      Promise.all(calls.map(([method, path, body]) => platform.call(method, path, body, options))),
    );
    for (const answer of result)
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(requests).toEqual([]);
  });

  it('§5 a key goes in X-Api-Key in any case, or as a bearer', async () => {
    const ways: [string, string][] = [
      ['X-API-KEY', platform.apiKey],
      ['x-api-key', platform.apiKey],
      ['Authorization', `Bearer ${platform.apiKey}`],
    ];
    for (const [index, [name, value]] of ways.entries()) {
      // Not by fetch, which sends every name in lower case.
      const headers = { [name]: value, 'content-type': 'application/json' };
      const target = '/v1/projects/default/integrations';
      expect((await rawCall(platform.base, { target, headers })).status).toBe(200);
      const body = JSON.stringify(record(`by-header-${index}`));
      const path = `/write/v1${objects('default', 'hubspot-crm')}`;
      const written = await rawCall(platform.base, { method: 'POST', target: path, headers, body });
      expect([name, written.status]).toEqual([name, 200]);
    }
  });

  it('§9 management is under /v1 and writing under /write/v1', async () => {
    expect((await platform.call('GET', '/v1/projects')).status).toBe(200);
    expect((await customer.write('contacts', record('versioned'))).status).toBe(200);
  });

  it('§9 a path without its version, or of another one, does not exist', async () => {
    for (const prefix of ['', '/v2', '/write/v2', '/write']) {
      const answer = await fetch(`${platform.base}${prefix}${objects('default', 'hubspot-crm')}`, {
        method: 'POST',
        headers: { 'x-api-key': platform.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(record('unversioned')),
      });
      expect([prefix, answer.status]).toEqual([prefix, 404]);
    }
  });

  it('§9 the API description is OpenAPI 3.1 of version 1.0.0', async () => {
    const described = await platform.call<{ openapi: string; info: { version: string } }>(
      'GET',
      '/openapi.json',
      undefined,
      { key: null },
    );
    expect(described).toMatchObject({ status: 200, body: { openapi: '3.1.0', info: { version: '1.0.0' } } });
  });
});
