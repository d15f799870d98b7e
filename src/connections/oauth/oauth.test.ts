import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { loadCatalog, type Provider } from '../../providers/index.ts';
import { control, createHarness, type Harness } from '../harness.fixture.ts';
import { authorizationUrl } from './authorize.ts';
import { marking, secretIn } from './browser.ts';
import { assertIssuer } from './redirect.ts';

describe('connections/oauth', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;

  beforeAll(async () => {
    [hubspot, salesforce] = await Promise.all([
      startHubspot({ records: 1 }),
      startSalesforce({ records: 1, rotation: true }),
    ]);
    harness = await createHarness({
      hubspot: hubspot.url,
      salesforce: salesforce.url,
      google: hubspot.url,
    });
    const { projects, projectId } = harness;
    const scopes = ['oauth', 'crm.objects.contacts.read'];
    await projects.providerApps.create(projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 'hs-secret',
      scopes,
    });
    await projects.providerApps.create(projectId, {
      provider: 'salesforce',
      clientId: 'sf',
      clientSecret: 'sf-secret',
    });
  });
  beforeEach(async () => {
    for (const { url } of [hubspot, salesforce]) await control(url, 'consent', { mode: 'approve' });
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([hubspot.close(), salesforce.close()]);
  });

  const start = async (body: Record<string, unknown>) =>
    harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      groupRef: 'acme',
      consumerRef: 'ada',
      ...body,
    });
  const list = () => harness.list();
  const messageIn = (page: string) => JSON.parse(/id="message"[^>]*>(.*?)<\/script>/s.exec(page)![1]!);

  it('connects HubSpot: the popup page names the connection, which names the portal and no secret', async () => {
    const started = await start({ groupName: 'Acme Inc.' });
    expect(started).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
    expect(new URL(started.text).origin).toBe('http://svc.test');
    const url = await harness.open(started.text);
    expect(url.searchParams.get('redirect_uri')).toBe('http://svc.test/callbacks/v1/oauth');
    expect(url.searchParams.get('scope')).toBe('oauth crm.objects.contacts.read');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    const page = await harness.call('GET', await harness.visit(started.text));
    expect(page).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
    const message = messageIn(page.text);
    expect(message.eventType).toBe('AUTHORIZATION_SUCCEEDED');
    const connection = (
      await harness.call('GET', `/v1/projects/default/connections/${message.data.connection}`)
    ).json;
    expect(connection).toMatchObject({
      provider: 'hubspot',
      status: 'working',
      authScheme: 'oauth2/authorizationCode',
      group: { groupRef: 'acme', groupName: 'Acme Inc.' },
      consumer: { consumerRef: 'ada', consumerName: 'ada' },
      providerApp: { clientId: 'hs' },
    });
    expect(connection.providerWorkspaceRef).toMatch(/^\d+$/);
    expect(JSON.stringify(connection)).not.toMatch(/na1-|hs-secret/);
    const withTokens = await harness.call(
      'GET',
      `/v1/projects/default/connections/${message.data.connection}?includeRefreshToken=true`,
    );
    expect(withTokens.json.oauth2AuthorizationCode?.refreshToken?.token).toMatch(/^na1-/);
  });

  it('keeps the id when the same account is connected again, with new credentials', async () => {
    const before = (await list())[0]!;
    const page = await harness.call('GET', await harness.visit((await start({})).text));
    expect(messageIn(page.text).data.connection).toBe(before.id);
    const after = await list();
    expect(after).toHaveLength(1);
    expect(after[0]!.group.groupName).toBe('Acme Inc.');
    expect(after[0]!.updateTime! > before.updateTime!).toBe(true);
  });

  it('connects Salesforce, whose API address comes from the token response, and calls it', async () => {
    const { text } = await start({ provider: 'salesforce', providerWorkspaceRef: 'acme' });
    const { connection: id } = messageIn((await harness.call('GET', await harness.visit(text))).text).data;
    const connection = await harness.connections.get(harness.reach, id);
    expect(harness.connections.present(connection)).toMatchObject({
      authScheme: 'oauth2/authorizationCodePKCE',
      providerWorkspaceRef: 'acme',
      providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
    });
    const client = await harness.connections.client(harness.projectId, id);
    const result = await client.send({ method: 'GET', path: '/services/data/v60.0/limits' });
    expect('answer' in result && result.answer.status).toBe(200);
    await expect.poll(async () => (await harness.connections.get(harness.reach, id)).status).toBe('working');
  });

  it('takes the account from the inputs as well, as the catalogue names it, and refuses two', async () => {
    const workspace = { value: 'globex', source: 'input' };
    const { text } = await start({ provider: 'salesforce', providerMetadata: { workspace } });
    const { connection: id } = messageIn((await harness.call('GET', await harness.visit(text))).text).data;
    const connection = harness.connections.present(await harness.connections.get(harness.reach, id));
    expect(connection.providerWorkspaceRef).toBe('globex');
    expect(connection.providerMetadata).not.toHaveProperty('workspace');
    const two = { provider: 'salesforce', providerWorkspaceRef: 'acme', providerMetadata: { workspace } };
    expect(await start(two)).toMatchObject({
      status: 400,
      json: { issues: [{ in: 'body', name: 'providerMetadata.workspace' }] },
    });
  });

  it.each([
    ['acme', 'https://acme.my.salesforce.com'],
    ['acme--dev.sandbox', 'https://acme--dev.sandbox.my.salesforce.com'],
  ])('learns which Salesforce it is, %s, when nobody said so', async (workspace, instance) => {
    const { text } = await start({ provider: 'salesforce', groupRef: `learned-${workspace}` });
    const callback = await harness.visit(text);
    const body = JSON.stringify({ access_token: 'a', refresh_token: 'r', instance_url: instance });
    const fault = { kind: 'status', status: 200, body };
    await control(salesforce.url, 'faults', { path: '/services/oauth2/token', times: 1, fault });
    const { connection: id } = messageIn((await harness.call('GET', callback)).text).data;
    expect((await harness.connections.get(harness.reach, id)).row.workspace_ref).toBe(workspace);
  });

  it('signs in at the login host where no account was named, and says what is missing where that cannot be', () => {
    const catalog = loadCatalog();
    const input = { clientId: 'c', scopes: [], extra: {}, redirectUri: 'https://x', challenge: 'c' };
    const urlFor = (name: string, workspaceRef?: string): URL =>
      new URL(authorizationUrl(catalog.get(name), { ...input, place: { workspaceRef } }));
    expect(urlFor('salesforce').href).toMatch(
      /^https:\/\/login\.salesforce\.com\/services\/oauth2\/authorize\?/,
    );
    expect(urlFor('salesforce', 'acme').host).toBe('acme.my.salesforce.com');
    expect(() => urlFor('netsuite')).toThrow(
      /providerWorkspaceRef: is required for NetSuite: Your account id/,
    );
  });

  it('stores nothing when consent is denied and says so on a page with status 400', async () => {
    const count = (await list()).length;
    await control(hubspot.url, 'consent', { mode: 'deny' });
    const { text } = await start({ groupRef: 'denied' });
    const page = await harness.call('GET', await harness.visit(text));
    expect(page).toMatchObject({ status: 400, type: 'text/html; charset=utf-8' });
    expect(messageIn(page.text)).toEqual({
      eventType: 'AUTHORIZATION_FAILED',
      data: { error: 'Access to HubSpot was not granted.', reason: 'denied' },
    });
    expect(await list()).toHaveLength(count);
  });

  it('takes a state once, only within ten minutes, and only one that it gave out', async () => {
    const callback = await harness.visit((await start({})).text);
    expect((await harness.call('GET', callback)).status).toBe(200);
    expect(await harness.call('GET', callback)).toMatchObject({
      status: 400,
      text: expect.stringContaining('used already'),
    });
    const late = await harness.visit((await start({})).text);
    await harness.shiftClock('11 minutes');
    expect((await harness.call('GET', late)).status).toBe(400);
    await harness.shiftClock('-11 minutes');
    expect((await harness.call('GET', '/callbacks/v1/oauth?code=x&state=made-up')).status).toBe(400);
    expect((await harness.call('GET', '/callbacks/v1/oauth')).status).toBe(400);
  });

  it('keeps only the hash of a state, and drops flows that are over when a new one starts', async () => {
    await start({});
    await harness.shiftClock('71 minutes');
    const state = new URL((await start({})).text).searchParams.get('flow')!;
    await harness.shiftClock('-71 minutes');
    const rows = await harness.ground.database.raw(
      'SELECT state_hash, request::text, code_verifier FROM oauth_flow',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!['state_hash']).toEqual(createHash('sha256').update(state).digest());
    expect(JSON.stringify(rows)).not.toContain(state);
  });

  it('refuses an exchange that the provider refuses, and stores nothing', async () => {
    const count = (await list()).length;
    const { text } = await start({ groupRef: 'refused' });
    const callback = (await harness.visit(text)).replace(/code=[^&]+/, 'code=forged');
    const page = await harness.call('GET', callback);
    expect(page.status).toBe(400);
    expect(messageIn(page.text).eventType).toBe('AUTHORIZATION_FAILED');
    expect(await list()).toHaveLength(count);
  });

  it("refuses the answer of another server than the one that was asked, before the client's secret is sent", async () => {
    const providerApp = { provider: 'google', clientId: 'g', clientSecret: 's', scopes: ['email'] };
    await harness.projects.providerApps.create(harness.projectId, providerApp);
    const answer = async (iss: string, more: string) => {
      const link = (await start({ provider: 'google', groupRef: 'mixed-up' })).text;
      const state = (await harness.open(link)).searchParams.get('state');
      return harness.call('GET', `/callbacks/v1/oauth?state=${state}&iss=${encodeURIComponent(iss)}&${more}`);
    };
    await fetch(`${hubspot.url}/__sim/requests`, { method: 'DELETE' });
    for (const more of ['code=x', 'error=access_denied']) {
      const refused = await answer('https://evil.example.com', more);
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('not of the server') });
    }
    expect((await control(hubspot.url, 'requests'))['requests']).toEqual([]);
    expect((await answer(hubspot.url, 'error=access_denied')).text).toContain('was not granted');
    await answer(hubspot.url, 'code=x');
    expect((await control(hubspot.url, 'requests'))['requests']).toHaveLength(1);
  });

  it('demands the issuer where the provider always says it', () => {
    const oauth2Opts = { issuer: 'https://{{workspace}}.as.example', issParameterSupported: true };
    const provider = { displayName: 'P', oauth2Opts } as unknown as Provider;
    const check = (iss: unknown) => () => assertIssuer(provider, { workspaceRef: 'acme' }, iss);
    expect(check('https://acme.as.example')).not.toThrow();
    for (const iss of [
      undefined,
      '',
      'https://acme.as.example/',
      'https://evil.as.example',
      ['https://acme.as.example'],
    ])
      expect(check(iss)).toThrow(/not of the server/);
  });

  it('marks a browser with a cookie of this origin alone, as far as the scheme allows', () => {
    expect(marking('https://svc.example.com', 'st', 'secret')).toMatch(
      /^__Host-svc-oauth-[0-9a-f]{24}=secret; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(marking('http://localhost:4000', 'st', 'secret')).toMatch(
      /^svc-oauth-[0-9a-f]{24}=secret; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const [cookie = ''] = marking('https://svc.example.com', 'st', 'secret').split(';');
    expect(secretIn('https://svc.example.com', 'st', `a=b; ${cookie}; c=d`)).toBe('secret');
    expect(secretIn('https://svc.example.com', 'st', cookie.replace('__Host-', ''))).toBeUndefined();
    expect(secretIn('https://svc.example.com', 'other', cookie)).toBeUndefined();
    expect(secretIn('https://svc.example.com', 'st', undefined)).toBeUndefined();
  });

  it('escapes whatever the provider says', async () => {
    const { text } = await start({ groupRef: 'escaped' });
    const state = (await harness.open(text)).searchParams.get('state')!;
    const error = encodeURIComponent('</script><script>alert(1)</script>');
    const page = await harness.call('GET', `/callbacks/v1/oauth?state=${state}&error=${error}`);
    expect(page.status).toBe(400);
    expect(page.text).not.toContain('<script>alert');
    expect(messageIn(page.text).data.error).toContain('</script>');
  });

  it('tells only pages of the allowed origins, and ours, how a popup ended', async () => {
    const { text } = await start({ groupRef: 'hearing' });
    const state = (await harness.open(text)).searchParams.get('state')!;
    const allowedOrigins = ['https://app.acme.example.com'];
    await harness.projects.update(harness.projectId, { allowedOrigins });
    const page = await harness.call('GET', `/callbacks/v1/oauth?state=${state}&error=access_denied`);
    const hearers = JSON.parse(/id="hearers"[^>]*>(.*?)<\/script>/s.exec(page.text)![1]!) as string[];
    expect(hearers).toEqual(['http://svc.test', ...allowedOrigins]);
    expect(page.text).not.toContain("'*'");
  });

  it('goes to an allowed return URL with the outcome, and refuses any other', async () => {
    const refused = await start({ returnUrl: 'https://app.example.com.evil.test/' });
    expect(refused).toMatchObject({ status: 422, json: { code: 'return-url-not-allowed' } });
    const { text } = await start({ returnUrl: 'https://app.example.com/done?tab=1' });
    const done = await harness.call('GET', await harness.visit(text));
    expect(done).toMatchObject({
      status: 302,
      location: expect.stringMatching(
        /^https:\/\/app\.example\.com\/done\?tab=1&connectionId=[0-9a-f-]{36}$/,
      ),
    });
    await control(hubspot.url, 'consent', { mode: 'deny' });
    const denied = await start({ returnUrl: 'https://app.example.com/done?tab=1' });
    const answer = await harness.call('GET', await harness.visit(denied.text));
    expect(answer).toMatchObject({
      status: 302,
      location:
        'https://app.example.com/done?tab=1&error=Access+to+HubSpot+was+not+granted.&errorReason=denied',
    });
  });

  it('renews in place: the old credentials stay until the new ones are here', async () => {
    const hub = (await list()).find((one) => one.provider === 'hubspot')!;
    const path = `/v1/projects/default/connections/${hub.id}`;
    const before = await harness.connections.credential(harness.projectId, hub.id);
    const url = await harness.call('PATCH', `${path}:oauth-update`);
    expect(url).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
    expect((await harness.connections.credential(harness.projectId, hub.id)).headers).toEqual(before.headers);
    const page = await harness.call('GET', await harness.visit(url.text));
    expect(messageIn(page.text).data.connection).toBe(hub.id);
    const after = await harness.connections.credential(harness.projectId, hub.id);
    expect(after.generation).toBe(before.generation + 1);
    expect(after.headers).not.toEqual(before.headers);
  });

  it.each([
    ['rejected', 401],
    ['not checked', 503],
  ])('keeps the old credentials when the new ones were %s', async (_what, health) => {
    const hub = (await list()).find((one) => one.provider === 'hubspot')!;
    const before = await harness.connections.credential(harness.projectId, hub.id);
    const url = await harness.call('PATCH', `/v1/projects/default/connections/${hub.id}:oauth-update`);
    const fault = { kind: 'status', status: health };
    await control(hubspot.url, 'faults', { path: '/integrations/v1/me', fault });
    const page = await harness.call('GET', await harness.visit(url.text));
    await fetch(`${hubspot.url}/__sim/faults`, { method: 'DELETE' });
    expect(page.status).toBe(400);
    expect(messageIn(page.text).eventType).toBe('AUTHORIZATION_FAILED');
    expect(await harness.connections.credential(harness.projectId, hub.id)).toEqual(before);
  });

  it('takes new credentials that could not be checked when the old ones are dead', async () => {
    const hub = (await list()).find((one) => one.provider === 'hubspot')!;
    const { generation } = await harness.connections.credential(harness.projectId, hub.id);
    await harness.connections.markBadCredentials(harness.projectId, hub.id, generation, 'gone');
    const url = await harness.call('PATCH', `/v1/projects/default/connections/${hub.id}:oauth-update`);
    await control(hubspot.url, 'faults', {
      path: '/integrations/v1/me',
      fault: { kind: 'status', status: 503 },
    });
    expect((await harness.call('GET', await harness.visit(url.text))).status).toBe(200);
    await fetch(`${hubspot.url}/__sim/faults`, { method: 'DELETE' });
    expect((await harness.connections.get(harness.reach, hub.id)).status).toBe('created');
  });

  it('refuses to renew a connection with another account', async () => {
    const hub = (await list()).find((one) => one.provider === 'hubspot')!;
    await control(hubspot.url, 'consent', { account: '77777777' });
    const url = await harness.call('PATCH', `/v1/projects/default/connections/${hub.id}:oauth-update`);
    const page = await harness.call('GET', await harness.visit(url.text));
    expect(page.status).toBe(400);
    expect(messageIn(page.text).data.reason).toBe('otherAccount');
  });

  it('refuses to connect a provider in the browser that takes a key', async () => {
    expect(await start({ provider: 'copper' })).toMatchObject({
      status: 422,
      json: { code: 'auth-scheme-mismatch' },
    });
    expect(await start({ provider: 'nobody' })).toMatchObject({
      status: 422,
      json: { code: 'provider-unknown' },
    });
    expect(await start({ provider: 'pipedrive' })).toMatchObject({
      status: 422,
      json: { code: 'provider-app-missing' },
    });
  });

  it('stores nothing of a first connect that the health check refuses, and names the scope that it wants', async () => {
    const body = {
      category: 'MISSING_SCOPES',
      message: "This app hasn't been granted all required scopes.",
      errors: [
        {
          message: 'One of these is required.',
          context: { requiredGranularScopes: ['crm.objects.deals.read'] },
        },
      ],
    };
    const fault = { path: '/integrations/v1/me', fault: { kind: 'status', status: 403, body } };
    await control(hubspot.url, 'faults', fault);
    const { text } = await start({ groupRef: 'refused' });
    const page = await harness.call('GET', await harness.visit(text));
    expect(page.status).toBe(400);
    expect(page.text).toContain('Missing scopes: crm.objects.deals.read');
    expect(await harness.list('?groupRef=refused')).toEqual([]);
  });

  it('says which scopes of the app were not granted, once connected', async () => {
    const pair = await control(hubspot.url, 'tokens', { action: 'issue' });
    const tokens = { access_token: pair['accessToken'], refresh_token: pair['refreshToken'] };
    const granted = { ...tokens, expires_in: 1800, hub_id: 77, scopes: ['oauth'] };
    const fault = { path: '/oauth/2026-03/token', fault: { kind: 'status', status: 200, body: granted } };
    await control(hubspot.url, 'faults', fault);
    const { text } = await start({ groupRef: 'partly' });
    expect((await harness.call('GET', await harness.visit(text))).status).toBe(200);
    const [connection] = await harness.list('?groupRef=partly');
    expect(connection).toMatchObject({ status: 'working', missingScopes: ['crm.objects.contacts.read'] });
    const [whole] = await harness.list('?groupRef=acme');
    expect(whole).not.toHaveProperty('missingScopes');
  });
});
