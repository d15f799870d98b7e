import { TOTP, Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { becomeOwner, joinAs, openBrowser, password, tokenOf, type Browser } from '../people.ts';
import { startPlatform, type Platform } from '../platform.ts';

type Problem = Record<string, unknown>;

const codeNow = (secret: string, offsetMs = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + offsetMs });

describe('test/journeys/people-account', () => {
  let test: TestDatabase;
  let platform: Platform;
  let owner: Browser;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    owner = await becomeOwner(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const signIn = async (email: string, typed = password): Promise<Browser & { answer: Problem }> => {
    const browser = openBrowser(platform.base);
    const { body } = await browser.call<Problem>('POST', '/session', { email, password: typed });
    return { ...browser, answer: body };
  };

  describe('members and invitations', () => {
    it('an owner invites, lists, takes back; the link is for one address and one use', async () => {
      const invitations = '/projects/default/invitations';
      const made = await owner.call<Problem>('POST', invitations, {
        email: 'Sue@Example.com',
        role: 'support',
      });
      expect(made.body).toMatchObject({
        email: 'sue@example.com',
        role: 'support',
        invitedBy: 'owner@example.com',
      });
      const listed = await owner.call<Problem[]>('GET', invitations);
      expect(listed.body).toHaveLength(1);
      expect(listed.body[0]).not.toHaveProperty('url');
      const token = tokenOf(String(made.body['url']));
      const sue = openBrowser(platform.base);
      expect((await sue.call<Problem>('POST', '/invitations:look', { token })).body).toMatchObject({
        kind: 'invitation',
        email: 'sue@example.com',
        project: { name: 'default' },
      });
      // Whatever address is typed, the account is that of the invitation.
      const typed = { token, email: 'mallory@example.com', password };
      const accepted = await sue.call<Problem>('POST', '/invitations:accept', typed);
      expect(accepted.body).toMatchObject({
        person: { email: 'sue@example.com', operator: false },
        projects: [{ role: 'support', scopes: ['view', 'remediate'] }],
      });
      expect((await sue.call<Problem>('POST', '/invitations:accept', typed)).status).toBe(410);
      const again = await owner.call<Problem>('POST', invitations, {
        email: 'sue@example.com',
        role: 'viewer',
      });
      expect([again.status, again.body['code']]).toEqual([409, 'already-exists']);
      const other = await owner.call<Problem>('POST', invitations, {
        email: 'x@example.com',
        role: 'viewer',
      });
      expect((await owner.call('DELETE', `${invitations}/${String(other.body['id'])}`)).status).toBe(204);
      const late = { token: tokenOf(String(other.body['url'])), password };
      expect((await sue.call<Problem>('POST', '/invitations:accept', late)).body['code']).toBe(
        'invitation-over',
      );
    });

    it('a role changes and a member goes at once; the last owner stays', async () => {
      const dev = await joinAs(platform, 'dev@example.com', 'developer');
      const member = `/projects/default/members/${dev.personId}`;
      expect((await dev.call('POST', '/projects/default/topics', { name: 'by-dev' })).status).toBe(201);
      expect((await owner.call<Problem>('PATCH', member, { role: 'viewer' })).body).toMatchObject({
        role: 'viewer',
      });
      expect((await dev.call('POST', '/projects/default/topics', { name: 'no-more' })).status).toBe(403);
      expect((await owner.call('DELETE', member)).status).toBe(204);
      expect((await dev.call('GET', '/projects/default/operations')).status).toBe(404);
      const me = (await owner.call<{ person: { id: string } }>('GET', '/session')).body.person.id;
      for (const [method, body] of [
        ['DELETE', undefined],
        ['PATCH', { role: 'viewer' }],
      ] as const) {
        const refused = await owner.call<Problem>(method, `/projects/default/members/${me}`, body);
        expect([refused.status, refused.body['code']]).toEqual([409, 'last-owner']);
      }
      const log = await owner.call<{ results: Problem[] }>(
        'GET',
        '/projects/default/audit-log?action=member.updated',
      );
      expect(log.body.results[0]).toMatchObject({
        details: { role: { before: 'developer', after: 'viewer' } },
        actor: { kind: 'person', email: 'owner@example.com' },
      });
    });

    it('a developer gives nobody the scope full, and changes no key that has it; support sees no secret', async () => {
      const dev = await joinAs(platform, 'dev2@example.com', 'developer');
      const keys = '/projects/default/api-keys';
      expect((await dev.call('POST', keys, { label: 'x', scopes: ['full'] })).status).toBe(403);
      expect((await dev.call('POST', keys, { label: 'x' })).status).toBe(403);
      expect((await dev.call('POST', keys, { label: 'x', scopes: ['develop', 'write'] })).status).toBe(201);
      const full = await owner.call<{ id: string }>('POST', keys, { label: 'full one' });
      expect((await dev.call('DELETE', `${keys}/${full.body.id}`)).status).toBe(403);
      const change = { updateMask: ['active'], apiKey: { active: false } };
      expect((await dev.call('PATCH', `${keys}/${full.body.id}`, change)).status).toBe(403);
      expect((await owner.call('DELETE', `${keys}/${full.body.id}`)).status).toBe(204);
      const metadata = { url: 'https://hooks.example.com/' };
      const made = await dev.call('POST', '/projects/default/destinations', {
        name: 'd',
        type: 'webhook',
        metadata,
      });
      expect(made.status).toBe(201);
      const support = await joinAs(platform, 'support2@example.com', 'support');
      const path = '/projects/default/destinations/d';
      expect((await support.call('GET', path)).status).toBe(200);
      expect((await support.call('GET', `${path}?includeSecrets=true`)).status).toBe(403);
      expect((await dev.call('GET', `${path}?includeSecrets=true`)).status).toBe(200);
      expect((await support.call('POST', `${path}:disable`)).status).toBe(200);
      expect((await support.call('DELETE', path)).status).toBe(403);
    });
  });

  describe('the second factor', () => {
    it('is asked for after the password, with a token of its own; a code holds once; recovery codes hold once', async () => {
      const ada = await joinAs(platform, 'ada@example.com', 'viewer');
      for (const proof of [undefined, {}, { password: 'wrong' }]) {
        const refused = await ada.call<Problem>('POST', '/person/second-factor', proof);
        expect([refused.status, refused.body['code']]).toEqual([401, 'sign-in-refused']);
      }
      expect(await test.database.raw('SELECT FROM second_factor')).toEqual([]);
      const begun = await ada.call<{ secret: string; uri: string }>('POST', '/person/second-factor', {
        password,
      });
      expect(begun.body.uri).toContain('otpauth://totp/svc:ada');
      const { secret } = begun.body;
      const stored = await test.database.raw(
        `SELECT encode(totp_secret, 'escape') AS text FROM second_factor`,
      );
      expect(String(stored[0]?.['text'])).not.toContain(secret);
      // Nothing asks for it yet.
      expect((await signIn('ada@example.com')).answer['state']).toBe('signedIn');
      const code = codeNow(secret, -30_000);
      const confirmed = await ada.call<{ recoveryCodes: string[] }>('POST', '/person/second-factor:confirm', {
        code,
      });
      expect(new Set(confirmed.body.recoveryCodes).size).toBe(10);

      const browser = await signIn('ada@example.com');
      expect(browser.answer).toEqual({ state: 'secondFactor' });
      const pending = browser.cookie();
      expect((await browser.call('GET', '/session')).status).toBe(401);
      expect((await browser.call('GET', '/projects/default/operations')).status).toBe(401);
      const replayed = await browser.call<Problem>('POST', '/session:verify', { code });
      expect([replayed.status, replayed.body['code']]).toEqual([401, 'sign-in-refused']);
      const right = await browser.call<Problem>('POST', '/session:verify', { code: codeNow(secret) });
      expect(right.body).toMatchObject({ state: 'signedIn', person: { secondFactor: true } });
      expect(browser.cookie()).not.toBe(pending);
      const fixed = openBrowser(platform.base);
      fixed.setCookie(pending);
      expect((await fixed.call('GET', '/session')).status).toBe(401);

      const [recoveryCode = ''] = confirmed.body.recoveryCodes;
      const lost = await signIn('ada@example.com');
      const recovered = await lost.call('POST', '/session:verify', {
        recoveryCode: recoveryCode.toUpperCase(),
      });
      expect(recovered.status).toBe(200);
      const twice = await signIn('ada@example.com');
      expect((await twice.call('POST', '/session:verify', { recoveryCode })).status).toBe(401);

      const noProof = await lost.call('POST', '/person/second-factor:remove', { password: 'wrong' });
      expect(noProof.status).toBe(401);
      expect((await lost.call('POST', '/person/second-factor:remove', { password })).status).toBe(204);
      expect((await signIn('ada@example.com')).answer['state']).toBe('signedIn');
    });

    it('is not guessed: attempts are slowed, also with a new session', async () => {
      const eve = await joinAs(platform, 'eve@example.com', 'viewer');
      const { secret } = (await eve.call<{ secret: string }>('POST', '/person/second-factor', { password }))
        .body;
      await eve.call('POST', '/person/second-factor:confirm', { code: codeNow(secret, -30_000) });
      const codes: unknown[] = [];
      for (let guess = 0; guess < 7; guess += 1) {
        const browser = await signIn('eve@example.com');
        const answer = await browser.call<Problem>('POST', '/session:verify', { code: `00000${guess}` });
        codes.push(answer.body['code']);
      }
      expect(codes.slice(0, 5)).toEqual(Array(5).fill('sign-in-refused'));
      expect(codes.slice(5)).toContain('sign-in-slowed');
    });
  });

  it('a person lists and ends their own sessions; a new password ends the others', async () => {
    const pat = await joinAs(platform, 'pat@example.com', 'viewer');
    const [second, third] = [await signIn('pat@example.com'), await signIn('pat@example.com')];
    const listed = await pat.call<{ id: string; isCurrent: boolean }[]>('GET', '/sessions');
    expect(listed.body.map(({ isCurrent }) => isCurrent)).toEqual([false, false, true]);
    expect((await pat.call('DELETE', `/sessions/${listed.body[0]?.id}`)).status).toBe(204);
    expect((await third.call('GET', '/session')).status).toBe(401);
    expect((await second.call('GET', '/session')).status).toBe(200);
    const others = (await owner.call<{ id: string }[]>('GET', '/sessions')).body;
    expect((await pat.call('DELETE', `/sessions/${others[0]?.id}`)).status).toBe(404);

    const newPassword = 'another long password';
    const change = (currentPassword: string, next: string) =>
      pat.call<Problem>('POST', '/person:change-password', { currentPassword, newPassword: next });
    expect((await change('wrong', newPassword)).status).toBe(401);
    expect((await change(password, 'pat@example.com')).body['code']).toBe('password-unfit');
    const projects = ['The-Seventh-Project', 'project-of-others'];
    for (const name of projects) await platform.call('POST', '/projects', { name });
    await test.database.raw(
      `INSERT INTO member (project_id, person_id, role) SELECT id, $1, 'viewer' FROM project WHERE name = 'the-seventh-project'`,
      [pat.personId],
    );
    const unfit = [
      ['PAT@example.com', 'It is the e-mail address.'],
      ['the-seventh-project', 'It is the name of a project.'],
    ] as const;
    for (const [chosen, detail] of unfit)
      expect((await change(password, chosen)).body).toMatchObject({ code: 'password-unfit', detail });
    const long = await joinAs(platform, 'patricia.longname@example.com', 'viewer');
    // The name of a project that they do not know of is told to nobody by its refusal.
    const unknown = { currentPassword: 'project-of-others', newPassword: password };
    expect(
      (
        await long.call('POST', '/person:change-password', {
          currentPassword: password,
          newPassword: 'project-of-others',
        })
      ).status,
    ).toBe(204);
    expect((await long.call('POST', '/person:change-password', unknown)).status).toBe(204);
    const part = { currentPassword: password, newPassword: 'Patricia.LongName' };
    expect((await long.call<Problem>('POST', '/person:change-password', part)).body).toMatchObject({
      code: 'password-unfit',
      detail: 'It is the part of the e-mail address before its @.',
      remedy: expect.stringContaining('before its @') as string,
    });
    expect((await change(password, 'short')).status).toBe(400);
    // What was read of the session just before serves no more.
    expect((await second.call('GET', '/sessions')).status).toBe(200);
    expect((await change(password, newPassword)).status).toBe(204);
    expect((await second.call('GET', '/sessions')).status).toBe(401);
    expect((await pat.call('GET', '/session')).status).toBe(200);
    expect((await second.call('GET', '/session')).status).toBe(401);
    expect((await signIn('pat@example.com')).answer['code']).toBe('sign-in-refused');
    expect((await signIn('pat@example.com', newPassword)).answer['state']).toBe('signedIn');
  });

  it('a hash of another kind, or a weaker one, is made anew at the next sign-in', async () => {
    await joinAs(platform, 'old@example.com', 'viewer');
    const { scryptPasswords } = await import('../../src/people/password.ts');
    const weak = await scryptPasswords().hash(password);
    await test.database.raw(`UPDATE person SET password = $1 WHERE email = 'old@example.com'`, [weak]);
    expect((await signIn('old@example.com')).answer['state']).toBe('signedIn');
    const [row] = await test.database.raw(`SELECT password FROM person WHERE email = 'old@example.com'`);
    expect(row?.['password']).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await signIn('old@example.com')).answer['state']).toBe('signedIn');
  });
});
