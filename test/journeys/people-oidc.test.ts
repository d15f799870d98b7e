import { TOTP, Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inviteOwner, makeResetLink } from '../../src/people/welcome.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startOidcServer, type OidcServer } from '../oidc-server.ts';
import { becomeOwner, joinAs, openBrowser, password, tokenOf, type Browser } from '../people.ts';
import { startPlatform, type Platform } from '../platform.ts';

type Body = Record<string, unknown>;

/** A flow that a browser began. */
interface Begun {
  authorizationUrl: string;
  /** The cookie of the flow, as the browser sends it. */
  cookie: string;
  set: string;
}

describe('test/journeys/people-oidc', () => {
  let test: TestDatabase;
  let elsewhere: OidcServer;
  let platform: Platform;
  let owner: Browser;
  beforeAll(async () => {
    [test, elsewhere] = [await createTestDatabase(), await startOidcServer()];
    const env = {
      SVC_OIDC_ISSUER: elsewhere.issuer,
      SVC_OIDC_CLIENT_ID: elsewhere.clientId,
      SVC_OIDC_CLIENT_SECRET: elsewhere.clientSecret,
      SVC_OIDC_NAME: 'Acme',
    };
    platform = await startPlatform({ databaseUrl: test.url, env });
    await elsewhere.begin(`${platform.base}/callbacks/v1/oidc`);
    owner = await becomeOwner(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await elsewhere?.close();
    await test?.drop();
  });

  const startUrl = (returnTo?: string): string =>
    `/callbacks/v1/oidc/start${returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo }).toString()}`}`;
  async function begin(returnTo?: string): Promise<Begun> {
    const answer = await platform.call('GET', startUrl(returnTo), undefined, { key: null });
    expect(answer.status).toBe(302);
    const [set = ''] = answer.headers.getSetCookie();
    const [cookie = ''] = set.split(';');
    return { authorizationUrl: answer.headers.get('location') ?? '', cookie, set };
  }
  /** Follows the callback to svc; answers where it leads, and the session of the browser. */
  async function end(callback: string, cookie: string): Promise<{ location: string; session: Browser }> {
    const session = openBrowser(platform.base);
    const { pathname, search } = new URL(callback);
    const answer = await session.call('GET', pathname + search, undefined, {
      cookie,
      'sec-fetch-site': 'cross-site',
    });
    return { location: answer.headers.get('location') ?? '', session };
  }
  async function signIn(account: string, returnTo?: string): ReturnType<typeof end> {
    const { authorizationUrl, cookie } = await begin(returnTo);
    return end(await elsewhere.signIn(authorizationUrl, account), cookie);
  }
  const refused = (reason: string): string => `${platform.base}/sign-in?refused=${reason}`;
  const invite = (email: string, role = 'viewer') =>
    owner.call<Body>('POST', '/projects/default/invitations', { email, role });

  it('somebody who was invited signs in with the verified address, becomes a member, and is known from then on', async () => {
    const options = await owner.call<Body>('GET', '/sign-in');
    expect(options.body['oidc']).toEqual({
      name: 'Acme',
      startUrl: `${platform.base}/callbacks/v1/oidc/start`,
    });
    elsewhere.accounts['sue'] = { email: 'Sue@Example.com', email_verified: true, name: 'Sue' };
    await invite('sue@example.com', 'support');
    const begun = await begin('/projects/default?status=failed');
    expect(begun.set).toMatch(/^svc-oidc-\w{24}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(Object.fromEntries(new URL(begun.authorizationUrl).searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${platform.base}/callbacks/v1/oidc`,
    });
    const first = await end(await elsewhere.signIn(begun.authorizationUrl, 'sue'), begun.cookie);
    expect(first.location).toBe(`${platform.base}/projects/default?status=failed`);
    const who = await first.session.call<Body>('GET', '/session');
    expect(who.body).toMatchObject({
      person: { email: 'sue@example.com', name: 'Sue', hasPassword: false, operator: false },
      projects: [{ name: 'default', role: 'support' }],
    });
    expect((await owner.call<Body[]>('GET', '/projects/default/invitations')).body).toEqual([]);
    // The address there may change, or not be verified any more: the subject names the person.
    elsewhere.accounts['sue'] = { email: 'smith@example.com', email_verified: false };
    const again = await signIn('sue');
    expect(again.location).toBe(`${platform.base}/`);
    expect((await again.session.call<Body>('GET', '/session')).body['person']).toEqual(who.body['person']);
    const log = await owner.call<{ results: Body[] }>('GET', '/projects/default/audit-log');
    expect(log.body.results.slice(0, 2)).toMatchObject([
      { action: 'person.updated', details: { identity: { issuer: elsewhere.issuer } } },
      { action: 'member.joined', actor: { kind: 'person', email: 'sue@example.com' } },
    ]);
  });

  it('somebody with a password who was invited by that address is the same person, and signs in elsewhere from then on', async () => {
    const ada = await joinAs(platform, 'ada@example.com', 'developer');
    const { secret } = (await ada.call<{ secret: string }>('POST', '/person/second-factor', { password }))
      .body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect((await ada.call('POST', '/person/second-factor:confirm', { code })).status).toBe(200);
    elsewhere.accounts['ada'] = { email: 'ada@example.com', email_verified: true };
    const { session } = await signIn('ada');
    expect((await session.call<Body>('GET', '/session')).body).toMatchObject({
      state: 'signedIn',
      person: { id: ada.personId, hasPassword: false, secondFactor: false },
    });
    expect((await ada.call('GET', '/projects/default')).status).toBe(401);
    const log = await owner.call<{ results: Body[] }>('GET', '/projects/default/audit-log');
    expect(log.body.results.slice(0, 2)).toMatchObject([
      { action: 'person.updated', details: { identity: { issuer: elsewhere.issuer } } },
      { action: 'person.updated', details: { password: 'removed', secondFactor: 'removed' } },
    ]);
    // A password that they choose themselves is theirs.
    expect((await session.call('POST', '/person:change-password', { newPassword: password })).status).toBe(
      204,
    );
    const again = await signIn('ada');
    expect((await again.session.call<Body>('GET', '/session')).body).toMatchObject({
      person: { id: ada.personId, hasPassword: true },
    });
  });

  it('who accepted an invitation in the name of another has nothing of what that person becomes', async () => {
    const mallory = await joinAs(platform, 'amy@example.com', 'viewer');
    const reset = await makeResetLink(test.database, platform.base, 'amy@example.com');
    elsewhere.accounts['amy'] = { email: 'amy@example.com', email_verified: true };
    await test.database.transaction((tx) => inviteOwner(tx, platform.base, 'amy@example.com'));
    const amy = await signIn('amy');
    expect((await amy.session.call<Body>('GET', '/session')).body).toMatchObject({
      person: { id: mallory.personId, operator: true },
    });
    expect((await mallory.call('GET', '/projects/default')).status).toBe(401);
    const signedIn = await openBrowser(platform.base).call<Body>('POST', '/session', {
      email: 'amy@example.com',
      password,
    });
    expect([signedIn.status, signedIn.body['code']]).toEqual([401, 'sign-in-refused']);
    const accepted = await openBrowser(platform.base).call('POST', '/invitations:accept', {
      token: tokenOf(reset),
      password,
    });
    expect(accepted.status).toBe(410);
  });

  it('who gets the former address of somebody is not that person, unless they use a link of the operator', async () => {
    elsewhere.accounts['kim'] = { email: 'kim@example.com', email_verified: true };
    await invite('kim@example.com');
    const kim = await signIn('kim');
    const { person } = (await kim.session.call<{ person: object }>('GET', '/session')).body;
    elsewhere.accounts['kim'].email = 'kim-smith@example.com';
    elsewhere.accounts['kim2'] = { email: 'kim@example.com', email_verified: true };
    await test.database.transaction((tx) => inviteOwner(tx, platform.base, 'kim@example.com'));
    const other = await signIn('kim2');
    expect([other.location, other.session.cookie()]).toEqual([refused('uninvited'), undefined]);
    await expect.poll(() => platform.said()).toContain('svc people reset --email kim@example.com');
    expect((await signIn('kim')).location).toBe(`${platform.base}/`);
    const token = tokenOf(await makeResetLink(test.database, platform.base, 'kim@example.com'));
    const used = await openBrowser(platform.base).call('POST', '/invitations:accept', { token, password });
    expect(used.status).toBe(200);
    const { session } = await signIn('kim2');
    expect((await session.call<Body>('GET', '/session')).body['person']).toMatchObject({
      id: (person as Body)['id'],
      hasPassword: false,
    });
    expect((await signIn('kim')).location).toBe(refused('uninvited'));
  });

  it('nobody else gets in: not invited, not verified, nor at an address that its person only typed', async () => {
    elsewhere.accounts['eve'] = { email: 'eve@example.com', email_verified: true };
    expect((await signIn('eve')).location).toBe(refused('uninvited'));
    await invite('mal@example.com', 'owner');
    elsewhere.accounts['mal'] = { email: 'mal@example.com', email_verified: false };
    const unverified = await signIn('mal');
    expect(unverified.location).toBe(refused('unverified'));
    expect(unverified.session.cookie()).toBeUndefined();
    // The first owner typed this address, and nobody verified it.
    elsewhere.accounts['boss'] = { email: 'owner@example.com', email_verified: true };
    expect((await signIn('boss')).location).toBe(refused('uninvited'));
    // Nor does a project that they are no owner of, whichever way its invitation is accepted.
    const other = await platform.call<Body>('POST', '/projects', { name: 'other' });
    const { key } = other.body['apiKey'] as { key: string };
    const asked = { email: 'owner@example.com', role: 'viewer' };
    const path = '/projects/other/invitations';
    const made = await platform.call<{ url: string }>('POST', path, asked, { key });
    expect(made.status).toBe(201);
    expect((await signIn('boss')).location).toBe(refused('uninvited'));
    const token = tokenOf(made.body.url);
    expect((await owner.call('POST', '/invitations:accept', { token })).status).toBe(200);
    expect((await signIn('boss')).location).toBe(refused('uninvited'));
    await test.database.raw(`UPDATE invitation SET expires_at = svc_now() - interval '1 s'`);
    elsewhere.accounts['mal'].email_verified = true;
    expect((await signIn('mal')).location).toBe(refused('uninvited'));
    const [people] = await test.database.raw(
      `SELECT count(*)::int AS count FROM person WHERE email IN ('eve@example.com', 'mal@example.com')`,
    );
    expect(people?.['count']).toBe(0);
  });

  it('an answer holds for the browser, the state, the code and the nonce that belong together, and once', async () => {
    await joinAs(platform, 'pat@example.com', 'viewer');
    elsewhere.accounts['pat'] = { email: 'pat@example.com', email_verified: true };
    const mine = await begin();
    const callback = await elsewhere.signIn(mine.authorizationUrl, 'pat');
    const other = await begin();
    const changed = (name: string, value: string): string => {
      const url = new URL(callback);
      url.searchParams.set(name, value);
      return url.href;
    };
    const stateOf = ({ authorizationUrl }: Begun): string =>
      new URL(authorizationUrl).searchParams.get('state') ?? '';
    const [, value = ''] = mine.cookie.split('=');
    const wrong: [what: string, url: string, cookie: string, reason: string][] = [
      ['another browser', callback, other.cookie, 'over'],
      ['no cookie', callback, '', 'over'],
      ['an unknown state', changed('state', 'x'.repeat(43)), mine.cookie, 'over'],
      [
        'the cookie of a state under the name of another',
        changed('state', stateOf(other)),
        `${other.cookie.split('=')[0]}=${value}`,
        'over',
      ],
      ['a code of another flow', changed('state', stateOf(other)), other.cookie, 'failed'],
    ];
    for (const [what, url, cookie, reason] of wrong) {
      const answer = await end(url, cookie);
      expect([what, answer.location]).toEqual([what, refused(reason)]);
      expect(answer.session.cookie()).toBeUndefined();
    }
    const fresh = await begin();
    const used = await elsewhere.signIn(fresh.authorizationUrl, 'pat');
    expect((await end(used, fresh.cookie)).location).toBe(`${platform.base}/`);
    const replayed = await end(used, fresh.cookie);
    expect([replayed.location, replayed.session.cookie()]).toEqual([refused('failed'), undefined]);

    const third = await begin();
    const url = new URL(third.authorizationUrl);
    url.searchParams.set('nonce', 'of-somebody-else');
    const answer = await end(await elsewhere.signIn(url.href, 'pat'), third.cookie);
    expect([answer.location, answer.session.cookie()]).toEqual([refused('failed'), undefined]);
    // The log has the provider's words of a refusal, and nothing else of its answers.
    expect(platform.said()).toContain('"said":{"error":"invalid_grant","detail":"grant request is invalid"}');
    await expect.poll(() => platform.said()).toContain('unexpected ID Token \\"nonce\\" claim value');
    expect(platform.said()).not.toContain('of-somebody-else');

    const fourth = await begin('/account');
    const denied = new URL(`${platform.base}/callbacks/v1/oidc`);
    denied.search = new URLSearchParams({
      error: 'access_denied',
      state: stateOf(fourth),
      iss: elsewhere.issuer,
    }).toString();
    expect((await end(denied.href, fourth.cookie)).location).toBe(`${refused('denied')}&returnTo=%2Faccount`);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example/',
    '\\\\evil.example',
    'javascript:alert(1)',
    'projects',
  ])('leads back to a path of svc only: %j', async (returnTo) => {
    const answer = await platform.call<Body>('GET', startUrl(returnTo), undefined, { key: null });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid-request']);
    expect(answer.text).toContain('returnTo');
  });

  it('what looks like a path and leads elsewhere when it is cleaned stays at svc', async () => {
    elsewhere.accounts['zoe'] = { email: 'zoe@example.com', email_verified: true };
    await invite('zoe@example.com');
    const { location } = await signIn('zoe', '/.//evil.example/');
    expect(location).toBe(`${platform.base}//evil.example/`);
  });
});
