import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  fault,
  install,
  manifest,
  requestsOf,
  simulator,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall, type RawAnswer } from '../raw-http.ts';

const absentId = '0192f0c1-0000-7000-8000-000000000000';
const target = '/crm/v3/objects/contacts?limit=1';

describe('test/journeys/proxy-targets', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let salesforce: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    // A caller who is silent for 30 s longer than that is given up.
    const env = { SVC_PROVIDER_CALL_MS: '5000' };
    platform = await startPlatform({ databaseUrl: test.url, env });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    salesforce = await install(platform, 'salesforce-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const byId = (id = customer.installationId) => ({ 'x-svc-installation-id': id });
  const byName = (name = 'hubspot-crm', groupRef = 'acme') => ({
    'x-svc-integration-name': name,
    'x-svc-group-ref': groupRef,
  });
  /** An undefined header is not sent. */
  const call = (
    headers: Record<string, string | undefined>,
    path = target,
    method = 'GET',
    body?: string,
  ): Promise<RawAnswer> => {
    const all = {
      'x-svc-proxy-version': '1',
      'x-svc-project-id': platform.projectId,
      'x-api-key': platform.apiKey,
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return rawCall(platform.proxy, {
      method,
      target: path,
      headers: Object.fromEntries(sent),
      ...(body === undefined ? {} : { body }),
    });
  };
  const bodyOf = (answer: RawAnswer): ProblemBody => JSON.parse(answer.body.toString()) as ProblemBody;
  const makeKey = async (body: Record<string, unknown>): Promise<string> =>
    (await platform.call<{ key: string }>('POST', '/projects/default/api-keys', { label: 'k', ...body })).body
      .key;
  /** What a refused call is answered with, and how often the provider was asked. */
  const refusalOf = async (headers: Record<string, string | undefined>) => {
    const { result, requests } = await during(platform.hubspot, () => call(headers));
    const {
      status,
      code,
      issues = [],
    } = JSON.parse(result.body.toString()) as ProblemBody & { status: number };
    const told = [result.status, result.headers['x-svc-problem']];
    return { told, status, code, names: issues.map((issue) => issue.name), sent: requests.length };
  };
  const refused = (status: number, code: string, ...names: string[]) => ({
    told: [status, code],
    status,
    code,
    names,
    sent: 0,
  });

  it('§4.6 the installation id selects the target', async () => {
    const answer = await call(byId());
    expect(answer.status).toBe(200);
    expect(bodyOf(answer)).toHaveProperty('results');
  });

  it('§4.6 integration name and group select the target together', async () => {
    expect((await call(byName())).status).toBe(200);
    expect((await call(byName('salesforce-crm'), '/services/data/v60.0/limits')).status).toBe(200);
  });

  it('§4.6 when all three are given the installation id is used', async () => {
    const answer = await during(platform.hubspot, () =>
      call({ ...byId(), ...byName('salesforce-crm', 'nobody') }),
    );
    expect(answer.result.status).toBe(200);
    expect(answer.requests).toHaveLength(1);
  });

  it('§4.6, §9 x-svc-proxy-version is required and always 1', async () => {
    expect(await refusalOf({ ...byId(), 'x-svc-proxy-version': undefined })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-proxy-version'),
    );
    expect(await refusalOf({ ...byId(), 'x-svc-proxy-version': '2' })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-proxy-version'),
    );
  });

  it('§4.6 x-svc-project-id is required: the id, not the name', async () => {
    expect(await refusalOf({ ...byId(), 'x-svc-project-id': undefined })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-project-id'),
    );
    expect(await refusalOf({ ...byId(), 'x-svc-project-id': 'default' })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-project-id'),
    );
    expect(await refusalOf({ ...byId(), 'x-svc-project-id': absentId })).toEqual(refused(404, 'not-found'));
  });

  it('§4.6, §5 x-api-key is required; a bearer token does not stand for it', async () => {
    expect(await refusalOf({ ...byId(), 'x-api-key': undefined })).toEqual(refused(401, 'unauthenticated'));
    expect(
      await refusalOf({ ...byId(), 'x-api-key': undefined, authorization: `Bearer ${platform.apiKey}` }),
    ).toEqual(refused(401, 'unauthenticated'));
    expect(await refusalOf({ ...byId(), 'x-api-key': `${platform.apiKey}x` })).toEqual(
      refused(401, 'unauthenticated'),
    );
  });

  it('§4.6 a target is required: half of one is none', async () => {
    expect(await refusalOf({})).toEqual(refused(400, 'proxy-request-invalid', 'x-svc-integration-name'));
    expect(await refusalOf({ 'x-svc-integration-name': 'hubspot-crm' })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-group-ref'),
    );
    expect(await refusalOf({ 'x-svc-group-ref': 'acme' })).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-integration-name'),
    );
    expect(await refusalOf(byId('not-an-id'))).toEqual(
      refused(400, 'proxy-request-invalid', 'x-svc-installation-id'),
    );
  });

  it('an unknown installation, group or integration is 404', async () => {
    expect(await refusalOf(byId(absentId))).toEqual(refused(404, 'installation-not-found'));
    expect(await refusalOf(byName('hubspot-crm', 'nobody'))).toEqual(refused(404, 'installation-not-found'));
    expect(await refusalOf(byName('nothing'))).toEqual(refused(404, 'installation-not-found'));
  });

  it('says which of the installation, the integration and the group is not there', async () => {
    const saying = async (headers: Record<string, string>) => bodyOf(await call(headers)).detail;
    expect(await saying(byId(absentId))).toContain(absentId);
    expect(bodyOf(await call(byId(absentId))).remedy).toMatch(/^Check the id: GET \S+ lists them\.$/);
    const { remedy } = bodyOf(await call(byName('nothing')));
    expect(remedy).toContain('x-svc-integration-name');
    expect(await saying(byName('nothing'))).toBe('There is no integration "nothing" in this project.');
    const absent = await saying(byName('hubspot-crm', 'nobody'));
    expect(absent).toBe('The group nobody has no installation of the integration hubspot-crm.');
    const confined = { 'x-api-key': await makeKey({ scopes: ['proxy'], groupRef: 'globex' }) };
    expect(await saying({ ...byName('hubspot-crm', 'acme'), ...confined })).toBe(
      absent.replace('nobody', 'acme'),
    );
  });

  it('another project’s installation and another group’s are 404', async () => {
    const other = await platform.call<{ id: string; apiKey: { key: string } }>('POST', '/projects', {
      name: 'other-proxy',
    });
    const theirs = { 'x-api-key': other.body.apiKey.key, 'x-svc-project-id': other.body.id };
    expect(await refusalOf({ ...byId(), ...theirs })).toEqual(refused(404, 'installation-not-found'));
    expect(await refusalOf({ ...byId(), 'x-api-key': other.body.apiKey.key })).toEqual(
      refused(404, 'not-found'),
    );
    expect(
      await refusalOf({ ...byId(), 'x-api-key': await makeKey({ scopes: ['proxy'], groupRef: 'globex' }) }),
    ).toEqual(refused(404, 'installation-not-found'));
    expect(
      (await call({ ...byId(), 'x-api-key': await makeKey({ scopes: ['proxy'], groupRef: 'acme' }) })).status,
    ).toBe(200);
  });

  it('a key needs scope proxy', async () => {
    expect(
      await refusalOf({ ...byId(), 'x-api-key': await makeKey({ scopes: ['read', 'write', 'frontend'] }) }),
    ).toEqual(refused(403, 'forbidden'));
    expect((await call({ ...byId(), 'x-api-key': await makeKey({ scopes: ['proxy'] }) })).status).toBe(200);
  });

  it('§4.6, §2.1 an integration that does not enable the proxy is refused, until a deploy enables it', async () => {
    await install(platform, 'hubspot-no-proxy', 'acme');
    expect(await refusalOf(byName('hubspot-no-proxy'))).toEqual(refused(403, 'proxy-disabled'));
    await deployAlone(`${manifest}    proxy: { enabled: true }\n`);
    await expect
      .poll(async () => (await call(byName('hubspot-no-proxy'))).status, { timeout: 5_000 })
      .toBe(200);
    await deployAlone(manifest);
    await expect
      .poll(async () => (await call(byName('hubspot-no-proxy'))).status, { timeout: 5_000 })
      .toBe(403);
  });
  const deployAlone = (sourceYaml: string) =>
    platform.call('PUT', '/projects/default/integrations:batch', { sourceYaml });

  it('§2.3 proxy.enabled false in the installation’s config switches it off there', async () => {
    const off = await install(platform, 'hubspot-crm', 'off', { proxy: { enabled: false } });
    expect(await refusalOf(byId(off.installationId))).toEqual(refused(403, 'proxy-disabled'));
    expect((await call(byId())).status).toBe(200);
    await platform.call(
      'PATCH',
      `/projects/default/integrations/hubspot-crm/installations/${off.installationId}`,
      {
        updateMask: ['config.content.proxy.enabled'],
        installation: { config: { content: { proxy: { enabled: true } } } },
      },
    );
    await expect
      .poll(async () => (await call(byId(off.installationId))).status, { timeout: 5_000 })
      .toBe(200);
  });

  it('§5 an expired token is renewed once and the call repeated once, with its body', async () => {
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    const body = JSON.stringify({ properties: { email: 'proxied@example.com' } });
    const headers = { ...byId(), 'content-type': 'application/json' };
    const { result: answer, requests } = await during(platform.hubspot, () =>
      call(headers, '/crm/v3/objects/contacts', 'POST', body),
    );
    expect(answer.status).toBe(201);
    expect(requests.map(({ path, status }) => [path.replace(/\?.*/, ''), status])).toEqual([
      ['/crm/v3/objects/contacts', 401],
      [expect.stringContaining('/token'), 200],
      ['/crm/v3/objects/contacts', 201],
    ]);
    expect(requests[2]?.body).toBe(body);
    expect(requests[2]?.headers['authorization']).not.toBe(requests[0]?.headers['authorization']);
  });

  it('§5 many calls with an expired token share one refresh', async () => {
    await simulator(platform.salesforce, 'POST', '/tokens', { action: 'expire' });
    const { result: answers, requests } = await during(platform.salesforce, () =>
      Promise.all(
        Array.from({ length: 8 }, () => call(byId(salesforce.installationId), '/services/data/v60.0/limits')),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(requests.filter(({ path }) => path.includes('/oauth2/token'))).toHaveLength(1);
  });

  it('§5 a caller is not given up while a token endpoint takes its time', { timeout: 90_000 }, async () => {
    const { installationId } = await install(platform, 'hubspot-crm', 'slow-renewal');
    await fault(platform.hubspot, { path: '/contacts', fault: { kind: 'status', status: 401 } });
    await fault(platform.hubspot, { path: '/token', fault: { kind: 'delay', ms: 38_000 } });
    expect((await call(byId(installationId))).status).toBe(200);
  });

  it('a 401 that a new token does not cure is passed on as it came', async () => {
    // Of a connection whose token no 401 has renewed within the last minute.
    const { installationId } = await install(platform, 'hubspot-crm', 'uncured');
    const body = { status: 'error', message: 'no' };
    await fault(platform.hubspot, {
      path: '/contacts',
      times: 2,
      fault: { kind: 'status', status: 401, body },
    });
    const { result: answer, requests } = await during(platform.hubspot, () => call(byId(installationId)));
    expect(answer.status).toBe(401);
    expect(bodyOf(answer)).toEqual(body);
    expect(answer.headers['x-svc-problem']).toBeUndefined();
    expect(requests.filter(({ path }) => path.includes('/contacts'))).toHaveLength(2);
  });

  it('after a revocation the 401 is passed on, the connection has bad credentials, and the next call says so', async () => {
    const revoked = await install(platform, 'hubspot-crm', 'revoked');
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    const answer = await call(byId(revoked.installationId));
    expect(answer.status).toBe(401);
    expect(answer.headers['x-svc-problem']).toBeUndefined();
    const connection = await platform.call('GET', `/projects/default/connections/${revoked.connectionId}`);
    expect(connection.body).toMatchObject({ status: 'bad_credentials', statusDetail: expect.any(String) });
    const before = (await requestsOf(platform.hubspot)).length;
    const next = await call(byId(revoked.installationId));
    expect(next).toMatchObject({ status: 422, headers: { 'x-svc-problem': 'connection-bad-credentials' } });
    expect(await requestsOf(platform.hubspot)).toHaveLength(before);
  });

  it('§4.6 a target in absolute form cannot name another host', async () => {
    const answer = await call(byId(), 'http://evil.example/crm');
    expect(answer).toMatchObject({ status: 400, headers: { 'x-svc-problem': 'proxy-request-invalid' } });
  });
});
