import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOrg, type Answer, type TestOrg, type Json } from './test-client.ts';

const app = { clientId: 'app', clientSecret: 'shh', redirectUris: ['https://svc.example/cb'] };
const client = { client_id: 'app', client_secret: 'shh' };
let org: TestOrg;

beforeEach(async () => {
  org = await startOrg();
  await org.sim('apps', app);
});
afterEach(() => org.close());

async function authorize(more: Record<string, string> = {}): Promise<URL> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: 'https://svc.example/cb',
    state: 's1',
    ...more,
  });
  const answer = await org.call('GET', `/services/oauth2/authorize?${query.toString()}`);
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get('location')!);
}

const token = (params: Record<string, string>): Promise<Answer> =>
  org.form('/services/oauth2/token', { ...client, ...params });

async function connect(more: Record<string, string> = {}): Promise<Json> {
  const code = (await authorize(more)).searchParams.get('code')!;
  const answer = await token({
    grant_type: 'authorization_code',
    code,
    redirect_uri: 'https://svc.example/cb',
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const refresh = (refreshToken: string): Promise<Answer> =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken });

async function statusOf(accessToken: string): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await org.call('GET', '/services/data/v60.0/limits', undefined, headers)).status;
}

describe('simulator/salesforce/login', () => {
  it('gives a token pair without expires_in that points at the simulator itself', async () => {
    const back = await authorize();
    expect(back.searchParams.get('state')).toBe('s1');
    const body = await connect();
    expect(body).toEqual({
      access_token: expect.stringMatching(/^00D\w{12}!/),
      refresh_token: expect.stringMatching(/^5Aep/),
      signature: expect.any(String),
      scope: 'api refresh_token id',
      instance_url: org.url,
      id: expect.stringMatching(new RegExp(`^${org.url}/id/${org.orgId}/005\\w{15}$`)),
      token_type: 'Bearer',
      issued_at: expect.stringMatching(/^\d{13}$/),
    });
    expect(await statusOf(body.access_token)).toBe(200);
    const refreshed = await refresh(body.refresh_token);
    expect(refreshed.body).not.toHaveProperty('refresh_token');
    expect(refreshed.body).not.toHaveProperty('expires_in');
    expect(await statusOf(refreshed.body.access_token)).toBe(200);
  });

  it('takes a challenge without a method for S256 and checks the verifier', async () => {
    const verifier = 'v'.repeat(64);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const exchange = async (code_verifier: string): Promise<Answer> => {
      const code = (await authorize({ code_challenge: challenge })).searchParams.get('code')!;
      return token({
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'https://svc.example/cb',
        code_verifier,
      });
    };
    expect((await exchange(verifier)).status).toBe(200);
    expect((await exchange('wrong')).body).toEqual({
      error: 'invalid_grant',
      error_description: 'invalid code verifier',
    });
  });

  it('words each refusal as Salesforce does', async () => {
    const code = (await authorize()).searchParams.get('code')!;
    const redirect_uri = 'https://svc.example/cb';
    const used = { grant_type: 'authorization_code', code, redirect_uri };
    const errorOf = async (params: Record<string, string>): Promise<unknown[]> => {
      const { status, body } = await token(params);
      return [status, body.error];
    };
    expect(await errorOf({ ...used, redirect_uri: 'https://else.example' })).toEqual([
      400,
      'redirect_uri_mismatch',
    ]);
    expect(await errorOf({ ...used, client_secret: 'no' })).toEqual([400, 'invalid_client']);
    expect(await errorOf({ ...used, client_id: 'no' })).toEqual([400, 'invalid_client_id']);
    expect(await errorOf({ grant_type: 'magic' })).toEqual([400, 'unsupported_grant_type']);
    await token(used);
    const again = await token(used);
    expect(again.body).toEqual({ error: 'invalid_grant', error_description: 'expired authorization code' });
    expect((await refresh('5Aep-unknown')).body).toEqual({
      error: 'invalid_grant',
      error_description: 'expired access/refresh token',
    });
  });

  it('shows a consent page on demand and sends a denial back', async () => {
    await org.sim('consent', { mode: 'page' });
    const query = 'response_type=code&client_id=app&redirect_uri=https%3A%2F%2Fsvc.example%2Fcb&state=x';
    const page = await org.call('GET', `/services/oauth2/authorize?${query}`);
    expect([page.status, page.text.includes('Deny')]).toEqual([200, true]);
    await org.sim('consent', { mode: 'deny' });
    expect((await authorize()).searchParams.get('error')).toBe('access_denied');
  });

  it('ends a session after two hours without use, and use keeps it alive', async () => {
    const { access_token } = await connect();
    const hour = 3_600_000;
    for (let i = 0; i < 3; i += 1) {
      await org.sim('clock', { advanceMs: 1.5 * hour });
      expect(await statusOf(access_token)).toBe(200);
    }
    await org.sim('clock', { advanceMs: 2 * hour });
    const expired = await org.call('GET', '/services/data/v60.0/limits', undefined, {
      authorization: `Bearer ${access_token}`,
    });
    expect([expired.status, expired.body]).toEqual([
      401,
      [{ message: 'Session expired or invalid', errorCode: 'INVALID_SESSION_ID' }],
    ]);
  });

  it('rotates refresh tokens when the app wants it, and reuse ends the whole family', async () => {
    await org.sim('apps', { ...app, rotation: true });
    const first = await connect();
    const other = await connect();
    const second = (await refresh(first.refresh_token)).body;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const third = (await refresh(second.refresh_token)).body;
    expect(await statusOf(first.access_token)).toBe(200);
    expect((await refresh(first.refresh_token)).status).toBe(400);
    expect((await refresh(third.refresh_token)).body.error).toBe('invalid_grant');
    for (const one of [first, second, third]) expect(await statusOf(one.access_token)).toBe(401);
    expect(await statusOf(other.access_token)).toBe(200);
  });

  it('keeps five token pairs per user and app: the sixth revokes the oldest', async () => {
    const pairs = [];
    for (let i = 0; i < 5; i += 1) pairs.push(await connect());
    expect(await Promise.all(pairs.map((p) => statusOf(p.access_token)))).toEqual([200, 200, 200, 200, 200]);
    const sixth = await connect();
    expect((await refresh(pairs[0].refresh_token)).status).toBe(400);
    expect(await statusOf(pairs[0].access_token)).toBe(401);
    expect(await statusOf(pairs[1].access_token)).toBe(200);
    expect(await statusOf(sixth.access_token)).toBe(200);
    const elsewhere = await connect({ account: 'second@salesforce.example' });
    expect(await statusOf(pairs[1].access_token)).toBe(200);
    expect(elsewhere.id).not.toBe(sixth.id);
  });

  it('revokes a refresh token with its sessions, an access token alone', async () => {
    const one = await connect();
    const again = (await refresh(one.refresh_token)).body;
    const access = await org.form('/services/oauth2/revoke', { token: one.access_token });
    expect([access.status, access.text]).toEqual([200, '']);
    expect([await statusOf(one.access_token), await statusOf(again.access_token)]).toEqual([401, 200]);
    expect((await org.form('/services/oauth2/revoke', { token: one.refresh_token })).status).toBe(200);
    expect(await statusOf(again.access_token)).toBe(401);
    expect((await refresh(one.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('introspects live and dead tokens, for known clients only', async () => {
    const { access_token, refresh_token, id } = await connect();
    const introspect = (text: string, more = {}): Promise<Answer> =>
      org.form('/services/oauth2/introspect', { ...client, token: text, ...more });
    const live = (await introspect(access_token)).body;
    expect(live).toMatchObject({
      active: true,
      client_id: 'app',
      sub: id,
      token_type: 'access_token',
      username: 'admin@salesforce.example',
    });
    expect(live.exp - live.iat).toBe(7200);
    expect((await introspect(refresh_token)).body).toMatchObject({
      active: true,
      token_type: 'refresh_token',
    });
    await org.sim('tokens', { action: 'expire', token: access_token });
    expect((await introspect(access_token)).body).toEqual({ active: false });
    expect((await introspect(access_token, { client_secret: 'no' })).status).toBe(401);
  });

  it('tells who the user is, by bearer or query, and not to others', async () => {
    const { access_token, id } = await connect();
    const path = new URL(id).pathname;
    const byQuery = await org.call(
      'GET',
      `${path}?format=json&oauth_token=${encodeURIComponent(access_token)}`,
    );
    expect(byQuery.body).toMatchObject({
      id,
      organization_id: org.orgId,
      username: 'admin@salesforce.example',
      urls: { rest: `${org.url}/services/data/v{version}/` },
    });
    const info = await org.call('GET', '/services/oauth2/userinfo', undefined, {
      authorization: `Bearer ${access_token}`,
    });
    expect(info.body).toMatchObject({ sub: id, organization_id: org.orgId });
    const bad = await org.call('GET', `${path}?oauth_token=nope`);
    expect([bad.status, bad.text]).toEqual([403, 'Bad_OAuth_Token']);
    const none = await org.call('GET', path);
    expect([none.status, none.text]).toEqual([403, 'Missing_OAuth_Token']);
  });

  it('honours scopes: no refresh token without refresh_token, no data without api', async () => {
    const narrow = await connect({ scope: 'id' });
    expect(narrow.scope).toBe('id');
    expect(narrow).not.toHaveProperty('refresh_token');
    const refused = await org.call('GET', '/services/data/v60.0/limits', undefined, {
      authorization: `Bearer ${narrow.access_token}`,
    });
    expect([refused.status, refused.body[0].message]).toEqual([
      401,
      'This session is not valid for use with the REST API',
    ]);
    const odd = await org.call('GET', '/services/data/v60.0/limits', undefined, {
      authorization: 'Basic eDp5',
    });
    expect([odd.status, odd.body[0].errorCode]).toEqual([401, 'INVALID_AUTH_HEADER']);
  });

  it('grants client credentials and JWT bearer without a refresh token', async () => {
    const machine = (await token({ grant_type: 'client_credentials' })).body;
    expect(machine).not.toHaveProperty('refresh_token');
    expect(await statusOf(machine.access_token)).toBe(200);
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const withKey = () =>
      org.sim('apps', { ...app, publicKey: publicKey.export({ type: 'spki', format: 'pem' }) });
    const assertion = (claims: object, key = privateKey): string => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const exp = Math.floor(Date.now() / 1000) + 120;
      const sub = 'robot@salesforce.example';
      const signed = `${part({ alg: 'RS256' })}.${part({ iss: 'app', sub, aud: org.url, exp, ...claims })}`;
      return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
    };
    const bear = async (text: string): Promise<Answer> =>
      token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: text });
    // An app without a certificate takes no assertion, whoever signed it.
    expect((await bear(assertion({}))).body.error).toBe('invalid_grant');
    await withKey();
    const robot = (await bear(assertion({}))).body;
    expect(robot).not.toHaveProperty('refresh_token');
    expect(await statusOf(robot.access_token)).toBe(200);
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    for (const wrong of [
      assertion({}, stranger),
      assertion({ aud: 'https://else.example' }),
      assertion({ exp: 1 }),
      'x.y.z',
    ]) {
      expect((await bear(wrong)).body.error).toBe('invalid_grant');
    }
    expect((await bear(assertion({ iss: 'unknown' }))).body.error).toBe('invalid_client_id');
  });
});
