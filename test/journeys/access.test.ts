import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type CallOptions, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

type Scope = 'full' | 'read' | 'write' | 'proxy' | 'frontend' | 'metrics' | 'operator';
type Reach = [method: string, path: string, body: unknown, scopes: Scope[]];

const manifest = {
  sourceYaml:
    'specVersion: 1.0.0\nintegrations:\n  - { name: a, provider: hubspot, proxy: { enabled: true } }\n',
};

/** What each scope reaches (docs/contract.md, Authentication). A refused call changes nothing; an allowed one is neither 401 nor 403. */
const reach: Reach[] = [
  ['GET', '/projects', undefined, ['full', 'read', 'frontend']],
  ['GET', '/projects/default', undefined, ['full', 'read', 'frontend']],
  ['GET', '/projects/default/integrations', undefined, ['full', 'read', 'frontend']],
  ['GET', '/projects/default/installations', undefined, ['full', 'read', 'frontend']],
  ['GET', '/projects/default/connections', undefined, ['full', 'read', 'frontend']],
  ['GET', '/projects/default/operations/x', undefined, ['full', 'read', 'write']],
  ['GET', '/projects/default/api-keys', undefined, ['full', 'read']],
  ['GET', '/projects/default/provider-apps', undefined, ['full', 'read', 'frontend']],
  [
    'GET',
    '/projects/default/integrations/hubspot-crm/objects/contacts/metadata?groupRef=acme',
    undefined,
    ['full', 'read', 'frontend'],
  ],
  ['POST', '/oauth-connect', {}, ['full', 'frontend']],
  ['POST', '/projects/default/connections:generate', {}, ['full', 'frontend']],
  ['POST', '/projects/default/integrations/hubspot-crm/installations', {}, ['full', 'frontend']],
  [
    'PATCH',
    '/projects/default/integrations/hubspot-crm/objects/contacts/config-content',
    {},
    ['full', 'frontend'],
  ],
  ['PUT', '/projects/default/integrations:batch?dryRun=true', manifest, ['full']],
  ['POST', '/projects/default/api-keys', {}, ['full']],
  ['POST', '/projects/default/provider-apps', {}, ['full']],
  ['POST', '/projects/default/jwt-keys', {}, ['full']],
  ['POST', '/projects', {}, ['operator']],
  ['DELETE', '/projects/default/integrations/nothing', undefined, ['full']],
  ['POST', '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts', {}, ['full', 'write']],
  ['GET', '/metrics', undefined, ['metrics']],
];

describe('test/journeys/access', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  let globex: Customer;
  const keys = {} as Record<Scope, string>;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  let kid = '';

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_LOG_LEVEL: 'info' } });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme');
    globex = await install(platform, 'hubspot-crm', 'globex');
    for (const scope of ['full', 'read', 'write', 'proxy', 'frontend', 'metrics', 'operator'] as const)
      keys[scope] = (await makeKey({ scopes: [scope] })).key;
    const registered = await platform.call<{ kid: string }>('POST', '/projects/default/jwt-keys', {
      label: 'j',
      algorithm: 'RS256',
      publicKeyPem: publicKey,
    });
    kid = registered.body.kid;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const makeKey = async (body: Record<string, unknown>) =>
    (
      await platform.call<{ id: string; key: string }>('POST', '/projects/default/api-keys', {
        label: 'k',
        ...body,
      })
    ).body;
  const get = (path: string, options: CallOptions) =>
    platform.call<ProblemBody>('GET', path, undefined, options);
  const bearer = (token: string): CallOptions => ({
    key: null,
    headers: { authorization: `Bearer ${token}` },
  });
  const sign = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, seconds = 300) =>
    new SignJWT({ sub: 'x', groupRef: 'acme', consumerRef: 'ada', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid, ...header })
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(createPrivateKey(privateKey));

  it('§5 a key is taken from X-Api-Key and from Authorization: Bearer', async () => {
    expect((await get('/projects', {})).status).toBe(200);
    expect((await get('/projects', bearer(platform.apiKey))).status).toBe(200);
    expect((await get('/projects', { key: null, headers: { 'X-API-KEY': platform.apiKey } })).status).toBe(
      200,
    );
  });

  it('§5 no key, a wrong one and a mistyped one are 401', async () => {
    const cases: CallOptions[] = [
      { key: null },
      { key: '' },
      { key: 'nonsense' },
      { key: platform.apiKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) },
      { key: platform.apiKey.toUpperCase() },
      bearer('nonsense'),
      { key: null, headers: { authorization: `Basic ${btoa('a:b')}` } },
    ];
    for (const options of cases) {
      const refused = await get('/projects', options);
      expect(refused).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      expect(refused.headers.get('www-authenticate')).toBeTruthy();
    }
  });

  it('every surface but the public pages wants a key', async () => {
    for (const [method, path, body] of reach) {
      expect(await platform.call(method, path, body, { key: null })).toMatchObject({ status: 401 });
    }
    expect((await get('/providers', { key: null })).status).toBe(200);
    expect((await get('/healthz', { key: null })).status).toBe(200);
  });

  it.each(reach)('%s %s is reached by its scopes only', async (method, path, body, scopes) => {
    for (const [scope, key] of Object.entries(keys)) {
      const answer = await platform.call<ProblemBody>(method, path, body, { key });
      const isAllowed = scopes.includes(scope as Scope);
      expect([scope, answer.status === 403]).toEqual([scope, !isAllowed]);
      expect(answer.status).not.toBe(401);
      expect([scope, answer.body.code === 'forbidden']).toEqual([scope, !isAllowed]);
    }
  });

  it('a deactivated key stops at once, an activated one works again, a deleted one never', async () => {
    const { id, key } = await makeKey({ scopes: ['read'] });
    const set = (active: boolean) =>
      platform.call('PATCH', `/projects/default/api-keys/${id}`, {
        updateMask: ['active'],
        apiKey: { active },
      });
    expect((await get('/projects', { key })).status).toBe(200);
    await set(false);
    expect((await get('/projects', { key })).status).toBe(401);
    await set(true);
    expect((await get('/projects', { key })).status).toBe(200);
    expect((await platform.call('DELETE', `/projects/default/api-keys/${id}`)).status).toBe(204);
    expect((await get('/projects', { key })).status).toBe(401);
    expect((await get(`/projects/default/api-keys/${id}`, {})).status).toBe(404);
  });

  it('a key is shown once', async () => {
    const { id, key } = await makeKey({ scopes: ['read'] });
    expect(key).toMatch(/^svc_/);
    for (const path of [`/projects/default/api-keys/${id}`, '/projects/default/api-keys'])
      expect((await get(path, {})).text).not.toContain(key.slice(-20));
    const rows = await test.database.raw('SELECT * FROM api_key');
    expect(JSON.stringify(rows)).not.toContain(key.slice(-20));
  });

  it('a key that was put into a URL is neither echoed nor logged, whole or mistyped', async () => {
    const { key } = await makeKey({ scopes: ['read'] });
    for (const secret of [key, key.slice(0, -1), key.slice(1), `${key}x`]) {
      for (const path of [
        `/projects/default/api-keys/${secret}`,
        `/projects/${secret}/api-keys`,
        `/projects/default/integrations/${secret}`,
        `/projects/default/connections/${secret}`,
        `/projects/default/installations/${secret}`,
        `/${secret}`,
        `/projects/default/operations?status=${secret}`,
      ]) {
        const { status, text } = await get(path, {});
        expect(status).toBe(path.includes('?') ? 400 : 404);
        expect(text).not.toContain(key.slice(24, 44));
      }
      const written = await acme.write(secret, { type: 'create', record: { email: 'x@example.com' } });
      expect(written.status).toBe(404);
      expect(written.text).not.toContain(key.slice(24, 44));
    }
    expect(platform.said()).not.toContain(key.slice(24, 44));
  });

  it('a key with a groupRef reaches that group only', async () => {
    const { key } = await makeKey({ scopes: ['full'], groupRef: 'acme' });
    const installation = (customer: Customer) =>
      `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`;
    expect((await get(installation(acme), { key })).status).toBe(200);
    expect(await get(installation(globex), { key })).toMatchObject({ status: 404 });
    expect(await get(`/projects/default/connections/${globex.connectionId}`, { key })).toMatchObject({
      status: 404,
    });
    expect(
      (
        await platform.call<{ group: { groupRef: string } }[]>(
          'GET',
          '/projects/default/installations',
          undefined,
          { key },
        )
      ).body.map(({ group }) => group.groupRef),
    ).toEqual(['acme']);
    const record = { email: 'x@example.com' };
    expect(await globex.write('contacts', { type: 'create', record }, { key })).toMatchObject({
      status: 404,
    });
    expect(await acme.write('contacts', { type: 'create', record }, { key })).toMatchObject({ status: 200 });
    expect(await platform.call('POST', '/projects/default/api-keys', { label: 'x' }, { key })).toMatchObject({
      status: 403,
    });
  });

  it('§5 a front-end token reaches its own group, as scope frontend', async () => {
    const token = await sign();
    const path = (customer: Customer) => `/projects/default/connections/${customer.connectionId}`;
    expect((await get(path(acme), bearer(token))).status).toBe(200);
    expect(await get(path(globex), bearer(token))).toMatchObject({ status: 404 });
    expect(await get(`${path(acme)}?includeCreds=true`, bearer(token))).toMatchObject({ status: 403 });
    expect((await get('/projects/default/integrations', bearer(token))).status).toBe(200);
    expect(await get('/projects/default/api-keys', bearer(token))).toMatchObject({ status: 403 });
    const apps = await get('/projects/default/provider-apps', bearer(token));
    expect([apps.status, apps.text]).toEqual([200, expect.stringContaining('client-hubspot')]);
    expect(apps.text).not.toMatch(/client-?secret/i);
    const write = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    expect(
      await platform.call('POST', write, { groupRef: 'acme', type: 'create', record: {} }, bearer(token)),
    ).toMatchObject({ status: 403 });
    const start = (groupRef: string) =>
      platform.call(
        'POST',
        '/oauth-connect',
        { projectIdOrName: 'default', provider: 'hubspot', groupRef, consumerRef: 'ada' },
        bearer(token),
      );
    expect((await start('acme')).status).toBe(200);
    expect((await start('globex')).status).toBe(404);
  });

  it('§5 front-end tokens that are expired, long-lived, incomplete, of another key or another algorithm are 401', async () => {
    const strangers = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const now = Math.floor(Date.now() / 1000);
    const stranger = await new SignJWT({ groupRef: 'acme', consumerRef: 'ada' })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setExpirationTime(now + 60)
      .sign(strangers.privateKey);
    const symmetric = await new SignJWT({ groupRef: 'acme', consumerRef: 'ada' })
      .setProtectedHeader({ alg: 'HS256', kid })
      .setExpirationTime(now + 60)
      .sign(Buffer.from(publicKey));
    const unsigned =
      `${btoa(JSON.stringify({ alg: 'none', kid }))}.${btoa(JSON.stringify({ groupRef: 'acme', consumerRef: 'ada', exp: now + 60 }))}.`.replaceAll(
        '=',
        '',
      );
    const tokens = [
      await sign({}, {}, -60),
      await sign({}, {}, 3600),
      await sign({ groupRef: undefined }),
      await sign({ consumerRef: '' }),
      await sign({}, { kid: 'nonsense' }),
      stranger,
      symmetric,
      unsigned,
    ];
    for (const token of tokens) expect(await get('/projects', bearer(token))).toMatchObject({ status: 401 });
    await platform.call('PATCH', `/projects/default/jwt-keys/${kid}`, {
      updateMask: ['active'],
      jwtKey: { active: false },
    });
    expect(await get('/projects', bearer(await sign()))).toMatchObject({ status: 401 });
    await platform.call('PATCH', `/projects/default/jwt-keys/${kid}`, {
      updateMask: ['active'],
      jwtKey: { active: true },
    });
  });

  it('§5 the proxy refuses a front-end token', async () => {
    const token = await sign();
    const own = {
      'x-svc-proxy-version': '1',
      'x-svc-project-id': platform.projectId,
      'x-svc-installation-id': acme.installationId,
    };
    for (const headers of [
      { ...own, 'x-api-key': token },
      { ...own, authorization: `Bearer ${token}` },
    ]) {
      expect(await rawCall(platform.proxy, { target: '/crm/v3/objects/contacts', headers })).toMatchObject({
        status: 401,
        headers: { 'x-svc-problem': 'unauthenticated' },
      });
    }
  });

  it('a private key is refused where the public one belongs', async () => {
    const refused = await platform.call<ProblemBody>('POST', '/projects/default/jwt-keys', {
      label: 'j',
      algorithm: 'RS256',
      publicKeyPem: privateKey,
    });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ name: 'publicKeyPem' }] } });
    expect(refused.text).not.toContain(privateKey.slice(40, 80));
  });
});
