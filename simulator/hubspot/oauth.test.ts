import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { send, str, useHubspot } from './harness.fixture.ts';

const REDIRECT = 'http://127.0.0.1:9/callback';

describe('simulator/hubspot/oauth', () => {
  const hub = useHubspot({ records: 5 });
  const query = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      client_id: 'app',
      redirect_uri: REDIRECT,
      scope: 'oauth crm.objects.contacts.read',
      state: 's',
      ...more,
    }).toString();
  const authorize = (more?: Record<string, string>) => send(`${hub.url}/oauth/authorize?${query(more)}`);
  const back = (location: string | null) => new URL(location ?? '').searchParams;
  const codeFor = async (more?: Record<string, string>) =>
    back((await authorize(more)).headers.get('location')).get('code') ?? '';
  const exchange = (code: string, more: Record<string, string> = {}, path = '/oauth/v3/token') =>
    hub.form(path, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      client_id: 'app',
      client_secret: 'x',
      ...more,
    });
  const refresh = (token: string, path = '/oauth/v3/token') =>
    hub.form(path, {
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: 'app',
      client_secret: 'x',
    });
  const get = (token: string, path = '/crm/v3/objects/contacts/501') =>
    hub.api('GET', path, undefined, token);

  it('asks on a page, and sends the answer back', async () => {
    await hub.sim('POST', '/consent', { mode: 'page' });
    const page = await authorize();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.text).toContain('Approve');
    const decide = (decision: string) =>
      hub.form('/oauth/authorize', {
        ...Object.fromEntries(new URLSearchParams(query())),
        decision,
        account: '4242',
      });
    expect(back((await decide('deny')).headers.get('location')).get('error')).toBe('access_denied');
    const approved = back((await decide('approve')).headers.get('location'));
    expect(approved.get('state')).toBe('s');
    const tokens = await exchange(approved.get('code') ?? '');
    expect(tokens.body).toMatchObject({
      token_type: 'bearer',
      expires_in: 1800,
      hub_id: 4242,
      scopes: ['oauth', 'crm.objects.contacts.read'],
    });
    await hub.sim('POST', '/consent', { mode: 'deny' });
    expect(back((await authorize()).headers.get('location')).get('error')).toBe('access_denied');
    await hub.sim('POST', '/consent', { mode: 'approve' });
  });

  it('checks code, redirect, verifier and grant type', async () => {
    expect((await exchange('nonsense')).body).toMatchObject({
      status: 'BAD_AUTH_CODE',
      error: 'invalid_grant',
    });
    const moved = await exchange(await codeFor(), { redirect_uri: 'http://127.0.0.1:9/other' });
    expect(moved).toMatchObject({ status: 400, body: { status: 'BAD_REDIRECT_URI' } });
    const verifier = 'v'.repeat(43);
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const wrong = await exchange(await codeFor({ code_challenge }), { code_verifier: 'w'.repeat(43) });
    expect(wrong.body).toMatchObject({ status: 'BAD_CODE_VERIFIER' });
    const right = await exchange(await codeFor({ code_challenge, code_challenge_method: 'S256' }), {
      code_verifier: verifier,
    });
    expect(right.status).toBe(200);
    const old = await codeFor();
    await hub.sim('POST', '/clock', { advanceMs: 601_000 });
    expect((await exchange(old)).body).toMatchObject({ status: 'BAD_AUTH_CODE' });
    expect((await hub.form('/oauth/v3/token', { grant_type: 'magic' })).body).toMatchObject({
      status: 'BAD_GRANT_TYPE',
    });
    expect((await exchange('nonsense', {}, '/oauth/v1/token')).body).not.toHaveProperty('error');
  });

  it('keeps the refresh token, shares it per app and account, and revokes it', async () => {
    const one = await exchange(await codeFor());
    const two = await exchange(await codeFor());
    const token = str(one.body['refresh_token']);
    expect(two.body['refresh_token']).toBe(token);
    const fresh = await refresh(token);
    expect(fresh.body['refresh_token']).toBe(token);
    const info = await send(`${hub.url}/oauth/v1/refresh-tokens/${token}`);
    expect(info.body).toMatchObject({ token, client_id: 'app', token_type: 'refresh' });
    expect((await send(`${hub.url}/oauth/v1/refresh-tokens/${token}`, { method: 'DELETE' })).status).toBe(
      204,
    );
    expect((await refresh(token)).body).toMatchObject({
      status: 'BAD_REFRESH_TOKEN',
      error: 'invalid_grant',
    });
    expect((await get(str(fresh.body['access_token']))).status).toBe(200);
  });

  it('introspects and revokes by POST, and answers a gone account', async () => {
    const made = await exchange(await codeFor({ account: '555' }));
    const access = str(made.body['access_token']);
    const ask = (token: string) =>
      hub.form('/oauth/2026-03/token/introspect', { token, client_id: 'app', client_secret: 'x' });
    expect((await ask(access)).body).toMatchObject({ active: true, hub_id: 555 });
    expect((await ask('junk')).body).toEqual({ active: false });
    await hub.sim('POST', '/settings', { goneAccounts: ['555'] });
    expect((await refresh(str(made.body['refresh_token']))).body).toMatchObject({
      status: 'BAD_HUB',
      error: 'access_denied',
    });
    await hub.sim('POST', '/settings', { goneAccounts: [] });
    await hub.form('/oauth/2026-03/token/revoke', { token: access, client_id: 'app', client_secret: 'x' });
    expect((await get(access)).status).toBe(401);
    expect(
      (
        await hub.form('/oauth/v3/token', {
          grant_type: 'client_credentials',
          client_id: 'app',
          client_secret: 'x',
          scope: 'journal',
        })
      ).body,
    ).toMatchObject({ scopes: ['journal'] });
  });

  it('tells missing, expired and made-up tokens apart', async () => {
    const none = await send(`${hub.url}/crm/v3/objects/contacts/501`);
    expect(none).toMatchObject({
      status: 401,
      body: {
        category: 'INVALID_AUTHENTICATION',
        message: expect.stringMatching(/^Authentication credentials not found\./),
      },
    });
    const garbage = await get('made-up-token');
    expect(garbage.status).toBe(401);
    expect(garbage.body).toMatchObject({
      category: 'EXPIRED_AUTHENTICATION',
      context: { 'expire time': ['1970-01-01T00:00:00.000Z'] },
    });
    expect(garbage.body['message']).toMatch(/expired 2\d{4} day\(s\) ago/);
    const { accessToken } = await hub.sim('POST', '/tokens', { action: 'issue' });
    expect((await get(str(accessToken))).status).toBe(200);
    await hub.sim('POST', '/clock', { advanceMs: 1_800_000 });
    expect((await get(str(accessToken))).body).toMatchObject({ category: 'EXPIRED_AUTHENTICATION' });
  });

  it.each(['555001', 555_001])('issues a token of the account %j', async (account) => {
    const issued = await hub.sim('POST', '/tokens', { action: 'issue', account });
    expect(issued['account']).toBe('555001');
  });

  it('answers 403 with the scopes that are missing', async () => {
    const { accessToken } = await hub.sim('POST', '/tokens', {
      action: 'issue',
      scopes: ['oauth', 'crm.objects.contacts.read'],
      clientId: 'narrow',
    });
    const token = str(accessToken);
    expect((await get(token)).status).toBe(200);
    const denied = await get(token, '/crm/v3/objects/companies/501');
    expect(denied.status).toBe(403);
    expect(denied.body).toMatchObject({
      category: 'MISSING_SCOPES',
      errors: [{ context: { requiredGranularScopes: ['crm.objects.companies.read'] } }],
      links: { scopes: expect.any(String) },
    });
    const schemas = await get(token, '/crm-object-schemas/v3/schemas');
    expect(schemas.body).toMatchObject({
      category: 'MISSING_SCOPES',
      context: { requiredGranularScopes: ['crm.schemas.custom.read'] },
    });
    const write = await hub.api('PATCH', '/crm/v3/objects/contacts/501', { properties: {} }, token);
    expect(write.status).toBe(403);
  });

  it('checks registered apps', async () => {
    await hub.sim('POST', '/apps', {
      clientId: 'known',
      clientSecret: 'right',
      redirectUris: [REDIRECT],
      pkce: 'required',
    });
    expect((await authorize()).status).toBe(400);
    expect((await authorize({ client_id: 'known', redirect_uri: 'http://127.0.0.1:9/evil' })).status).toBe(
      400,
    );
    const bare = await authorize({ client_id: 'known' });
    expect(back(bare.headers.get('location')).get('error')).toBe('invalid_request');
    expect((await exchange('x', { client_id: 'known', client_secret: 'wrong' })).body).toMatchObject({
      status: 'BAD_CLIENT_SECRET',
    });
    expect((await exchange('x')).body).toMatchObject({ status: 'BAD_CLIENT_ID' });
  });
});
