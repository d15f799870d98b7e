import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { connect, deploy, requestsOf, simulator, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';
import { startRecorder, type Recorder } from '../recorder.ts';

interface Connection {
  id: string;
  projectId: string;
  provider: string;
  group: { groupRef: string; groupName: string; projectId: string };
  consumer: { consumerRef: string; consumerName: string };
  providerWorkspaceRef?: string;
  authScheme: string;
  status: string;
  apiKey?: string;
  oauth2AuthorizationCode?: {
    accessToken: { token: string };
    refreshToken?: { token: string };
    scopes?: string[];
  };
}

describe('test/journeys/connect', () => {
  let test: TestDatabase;
  let recorder: Recorder;
  let platform: Platform;

  beforeAll(async () => {
    [test, recorder] = await Promise.all([createTestDatabase(), startRecorder()]);
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_LOG_LEVEL: 'trace' },
      origins: { iterable: recorder.url, freshdesk: recorder.url, marketo: recorder.url },
    });
    await deploy(platform);
  });
  afterEach(async () => {
    recorder.reset();
    await Promise.all(
      [platform.hubspot, platform.salesforce].map((url) =>
        simulator(url, 'POST', '/consent', { mode: 'approve' }),
      ),
    );
  });
  afterAll(async () => {
    await platform?.stop();
    await recorder?.close();
    await test?.drop();
  });

  const at = () => `/projects/${platform.projectId}/connections`;
  const start = (body: Record<string, unknown>): Promise<Answer<ProblemBody>> =>
    platform.call('POST', '/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      consumerRef: 'ada',
      ...body,
    });
  const list = async (query: string): Promise<Connection[]> =>
    (await platform.call<Connection[]>('GET', `${at()}?${query}`)).body;
  const get = (id: string, query = '') => platform.call<Connection>('GET', `${at()}/${id}${query}`);
  const generate = <Body = Connection>(body: Record<string, unknown>) =>
    platform.call<Body>('POST', `${at()}:generate`, { consumerRef: 'ada', ...body });
  const browser = newBrowser();
  const isCallback = ({ pathname }: URL) => pathname === '/callbacks/v1/oauth';
  /** Follows our link and the provider's consent; answers where the browser is sent afterwards. */
  const consent = async (link: string): Promise<URL> => {
    const { next, text } = await browser.open(link, isCallback);
    if (!next) throw new Error(`not sent back: ${text}`);
    return next;
  };
  const visit = (url: URL) => browser.open(url, () => true);

  it.each(['hubspot', 'salesforce'] as const)(
    '§4.7 a group connects %s by OAuth; the group and the person are recorded',
    async (provider) => {
      const started = await start({
        provider,
        groupRef: `oauth-${provider}`,
        groupName: 'Acme Inc.',
        consumerName: 'Ada L.',
        ...(provider === 'salesforce' ? { providerWorkspaceRef: 'acme' } : {}),
      });
      expect(started.status).toBe(200);
      expect(started.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(new URL(started.text).origin).toBe(platform.base);
      const { next: authorize } = await browser.open(started.text, () => true);
      expect(authorize?.searchParams.get('redirect_uri')).toBe(`${platform.base}/callbacks/v1/oauth`);
      expect(authorize?.searchParams.get('code_challenge_method')).toBe('S256');
      const page = await visit(await consent(started.text));
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(page.text).toContain('AUTHORIZATION_SUCCEEDED');
      const [made] = await list(`groupRef=oauth-${provider}`);
      expect(page.text).toContain(made!.id);
      expect(made).toMatchObject({
        projectId: platform.projectId,
        provider,
        status: 'working',
        authScheme: expect.stringMatching(/^oauth2\/authorizationCode/),
        group: { groupRef: `oauth-${provider}`, groupName: 'Acme Inc.', projectId: platform.projectId },
        consumer: { consumerRef: 'ada', consumerName: 'Ada L.' },
      });
      expect((await get(made!.id)).body).toEqual(made);
    },
  );

  it('a denied consent makes no connection and says so', async () => {
    await simulator(platform.hubspot, 'POST', '/consent', { mode: 'deny' });
    const page = await visit(await consent((await start({ groupRef: 'denied' })).text));
    expect(page.status).toBe(400);
    expect(page.text).toContain('AUTHORIZATION_FAILED');
    expect(page.text).toMatch(/not granted/);
    expect(await list('groupRef=denied')).toEqual([]);
  });

  it('a state works once, and one that nobody issued never', async () => {
    const callback = await consent((await start({ groupRef: 'once' })).text);
    expect((await visit(callback)).status).toBe(200);
    const again = await visit(callback);
    expect(again).toMatchObject({ status: 400, text: expect.stringContaining('AUTHORIZATION_FAILED') });
    const invented = new URL(callback);
    invented.searchParams.set('state', 'A'.repeat(43));
    expect((await visit(invented)).status).toBe(400);
    invented.searchParams.delete('state');
    expect((await visit(invented)).status).toBe(400);
    expect(await list('groupRef=once')).toHaveLength(1);
  });

  it('a code that the provider does not know makes no connection', async () => {
    const callback = await consent((await start({ groupRef: 'bad-code' })).text);
    callback.searchParams.set('code', 'made-up');
    expect((await visit(callback)).text).toContain('AUTHORIZATION_FAILED');
    expect(await list('groupRef=bad-code')).toEqual([]);
  });

  it('what a provider says in the callback cannot become script', async () => {
    const callback = await consent((await start({ groupRef: 'script' })).text);
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'server_error');
    callback.searchParams.set('error_description', '</script><script>alert(1)</script>');
    const page = await visit(callback);
    expect(page.text).not.toContain('<script>alert');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  });

  it('the browser goes back to an allowed return URL with the outcome', async () => {
    const returnUrl = 'http://app.example/settings?tab=crm';
    const done = await visit(await consent((await start({ groupRef: 'back', returnUrl })).text));
    expect(done.status).toBe(302);
    const location = new URL(done.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe('http://app.example/settings');
    expect(location.searchParams.get('tab')).toBe('crm');
    expect(location.searchParams.get('connectionId')).toBe((await list('groupRef=back'))[0]?.id);
    await simulator(platform.hubspot, 'POST', '/consent', { mode: 'deny' });
    const denied = await visit(await consent((await start({ groupRef: 'back', returnUrl })).text));
    expect(new URL(denied.headers.get('location') ?? '').searchParams.get('error')).toBeTruthy();
  });

  it.each([
    'http://app.example.evil.example/',
    'https://app.example/',
    'http://app.example@evil.example/',
    'javascript:alert(1)',
    '/relative',
  ])('a return URL outside of the list is refused: %s', async (returnUrl) => {
    expect(await start({ groupRef: 'back', returnUrl })).toMatchObject({
      status: 422,
      body: { code: 'return-url-not-allowed' },
    });
  });

  it('refuses to start for unknown providers, unknown projects, and what the provider needs', async () => {
    expect(await start({ groupRef: 'g', provider: 'hubspott' })).toMatchObject({
      status: 422,
      body: { code: 'provider-unknown' },
    });
    expect(await start({ groupRef: 'g', provider: 'slack' })).toMatchObject({
      status: 422,
      body: { code: 'provider-app-missing' },
    });
    expect(await start({ groupRef: 'g', provider: 'iterable' })).toMatchObject({
      status: 422,
      body: { code: 'auth-scheme-mismatch' },
    });
    expect(await start({ groupRef: 'g', projectIdOrName: 'nope' })).toMatchObject({ status: 404 });
    expect(await start({})).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'groupRef', detail: 'is required' }] },
    });
  });

  it('connecting again in place keeps the id and replaces the credentials', async () => {
    const id = await connect(platform, 'hubspot', 'in-place');
    const before = await get(id, '?includeCreds=true');
    const started = await platform.call('PATCH', `${at()}/${id}:oauth-update`);
    expect(started).toMatchObject({ status: 200 });
    expect((await get(id, '?includeCreds=true')).body).toEqual(before.body);
    expect((await visit(await consent(started.text))).status).toBe(200);
    const after = await get(id, '?includeCreds=true');
    expect(after.body.id).toBe(id);
    expect(after.body.oauth2AuthorizationCode?.accessToken.token).not.toBe(
      before.body.oauth2AuthorizationCode?.accessToken.token,
    );
    expect(await list('groupRef=in-place')).toHaveLength(1);
    const missing = await platform.call('PATCH', `${at()}/0192f0c1-0000-7000-8000-000000000000:oauth-update`);
    expect(missing.status).toBe(404);
  });

  it('an API key at hand connects, goes where the provider wants it, and is never shown', async () => {
    const made = await generate({ provider: 'iterable', groupRef: 'keys', apiKey: 'iterable-key-1' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        authScheme: 'apiKey',
        status: 'created',
        group: { groupRef: 'keys', groupName: 'keys' },
        consumer: { consumerRef: 'ada' },
      },
    });
    expect(made.text).not.toContain('iterable-key-1');
    expect((await get(made.body.id)).text).not.toContain('iterable-key-1');
    expect((await get(made.body.id, '?includeCreds=true')).body.apiKey).toBe('iterable-key-1');
  });

  it('user name and password connect', async () => {
    const basicAuth = { username: 'ada', password: 'basic-password-1' };
    const made = await generate({
      provider: 'freshdesk',
      providerWorkspaceRef: 'acme',
      groupRef: 'basic',
      basicAuth,
    });
    expect(made).toMatchObject({ status: 201, body: { authScheme: 'basic', providerWorkspaceRef: 'acme' } });
    expect(made.text).not.toContain('basic-password-1');
  });

  it('client credentials fetch a token at once, and are refused when the provider refuses them', async () => {
    const oauth2ClientCredentials = { clientId: 'c', clientSecret: 'client-secret-1' };
    const body = {
      provider: 'marketo',
      providerWorkspaceRef: '123-abc',
      groupRef: 'cc',
      oauth2ClientCredentials,
    };
    recorder.answer((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"access_token":"cc-token-1","expires_in":3600}');
    });
    const made = await generate(body);
    expect(made).toMatchObject({ status: 201, body: { authScheme: 'oauth2/clientCredentials' } });
    expect(recorder.seen[0]).toMatchObject({ method: 'POST', target: '/identity/oauth/token' });
    expect(made.text).not.toMatch(/client-secret-1|cc-token-1/);
    recorder.answer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
    });
    const refused = await generate<ProblemBody>({ ...body, groupRef: 'cc-refused' });
    expect(refused).toMatchObject({ status: 422, body: { code: 'credentials-rejected' } });
    expect(refused.text).not.toContain('client-secret-1');
    expect(await list('groupRef=cc-refused')).toEqual([]);
  });

  it('tokens from elsewhere are imported when they work, and refused when they do not', async () => {
    const issued = await simulator<{ accessToken: string; refreshToken: string }>(
      platform.hubspot,
      'POST',
      '/tokens',
      {
        action: 'issue',
        clientId: 'client-hubspot',
      },
    );
    const oauth2AuthorizationCode = {
      accessToken: { token: issued.accessToken },
      refreshToken: { token: issued.refreshToken },
      scopes: ['oauth'],
    };
    const made = await generate({ provider: 'hubspot', groupRef: 'import', oauth2AuthorizationCode });
    expect(made).toMatchObject({ status: 201, body: { status: 'working' } });
    expect(made.text).not.toContain(issued.accessToken);
    const dead = { accessToken: { token: 'x'.repeat(40) } };
    const refused = await generate<ProblemBody>({
      provider: 'hubspot',
      groupRef: 'import-dead',
      oauth2AuthorizationCode: dead,
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'credentials-rejected', provider: { status: 401 } },
    });
    expect(await list('groupRef=import-dead')).toEqual([]);
  });

  it('refuses credentials of another kind, several kinds, none, and blocks without their parts', async () => {
    const groupRef = 'kinds';
    expect(await generate({ provider: 'hubspot', groupRef, apiKey: 'k' })).toMatchObject({
      status: 422,
      body: { code: 'auth-scheme-mismatch' },
    });
    expect(await generate({ provider: 'iterable', groupRef })).toMatchObject({
      status: 422,
      body: { code: 'auth-scheme-mismatch' },
    });
    expect(
      await generate({
        provider: 'iterable',
        groupRef,
        apiKey: 'k',
        basicAuth: { username: 'u', password: 'p' },
      }),
    ).toMatchObject({ status: 400 });
    expect(await generate({ provider: 'freshdesk', groupRef, basicAuth: { username: 'u' } })).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'basicAuth.password' }] },
    });
    expect(await generate({ groupRef, apiKey: 'k' })).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'provider' }] },
    });
    expect(await list(`groupRef=${groupRef}`)).toEqual([]);
  });

  it('a description is changed by mask, credentials by their block; other masks are refused with the list', async () => {
    const { body: made } = await generate({ provider: 'iterable', groupRef: 'patch', apiKey: 'old-key-1' });
    const patch = <Body>(updateMask: string[], connection: unknown) =>
      platform.call<Body>('PATCH', `${at()}/${made.id}`, { updateMask, connection });
    expect(await patch(['apiKey'], { apiKey: 'new-key-1', groupName: 'ignored' })).toMatchObject({
      status: 200,
      body: { id: made.id },
    });
    expect((await get(made.id, '?includeCreds=true')).body.apiKey).toBe('new-key-1');
    expect(await patch(['groupRef'], { groupRef: 'x' })).toMatchObject({
      status: 400,
      body: { remedy: expect.stringContaining('apiKey') },
    });
    expect(await patch(['apiKey'], {})).toMatchObject({ status: 400 });
    expect(await patch(['basicAuth'], { basicAuth: { username: 'u', password: 'p' } })).toMatchObject({
      status: 422,
      body: { code: 'auth-scheme-mismatch' },
    });
  });

  it('the refresh token and forced refreshes are for scope full only', async () => {
    const id = await connect(platform, 'hubspot', 'creds');
    const key = await platform.call<{ key: string }>('POST', `/projects/${platform.projectId}/api-keys`, {
      label: 'r',
      scopes: ['read'],
    });
    const reader = { key: key.body.key };
    expect((await platform.call('GET', `${at()}/${id}`, undefined, reader)).status).toBe(200);
    for (const query of ['?includeCreds=true', '?includeRefreshToken=true', '?refresh=force']) {
      expect(await platform.call('GET', `${at()}/${id}${query}`, undefined, reader)).toMatchObject({
        status: 403,
      });
    }
    const before = (await get(id, '?includeCreds=true')).body.oauth2AuthorizationCode;
    const after = (await get(id, '?includeRefreshToken=true&refresh=force')).body.oauth2AuthorizationCode;
    expect(after?.accessToken.token).not.toBe(before?.accessToken.token);
    expect(after?.refreshToken?.token).toBeTruthy();
    expect(before?.refreshToken).toBeUndefined();
  });

  it('a deleted connection is gone here and revoked at the provider', async () => {
    await simulator(platform.salesforce, 'POST', '/consent', { account: 'deleted@example.com' });
    const id = await connect(platform, 'salesforce', 'deleted');
    const answer = await rawCall(platform.base, {
      method: 'DELETE',
      target: `/v1${at()}/${id}`,
      headers: { 'x-api-key': platform.apiKey },
    });
    expect(answer).toMatchObject({ status: 204 });
    expect(answer.body).toHaveLength(0);
    expect(await get(id)).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(await platform.call('DELETE', `${at()}/${id}`)).toMatchObject({ status: 404 });
    await expect
      .poll(async () =>
        (await requestsOf(platform.salesforce)).some(({ path }) => path.includes('/oauth2/revoke')),
      )
      .toBe(true);
  });

  it('nothing secret stands in the log, though it logs all', async () => {
    // A key that was put into a path by mistake, whole and mistyped.
    for (const secret of [platform.apiKey, platform.apiKey.slice(1), `${platform.apiKey}x`])
      expect((await platform.call('GET', `/projects/${secret}/connections`)).status).toBe(404);
    const said = platform.said();
    expect(said).toContain('"level"');
    expect(said).not.toMatch(
      /iterable-key-1|old-key-1|new-key-1|basic-password-1|client-secret|cc-token-1|x{40}|na1-[0-9a-f]{8}|CI[\w-]{100}|00D\w{12,15}!|5Aep861|access_token=|code=[0-9a-f-]{36}/,
    );
    expect(said).not.toContain(platform.apiKey.slice(8, -8));
  });
});
