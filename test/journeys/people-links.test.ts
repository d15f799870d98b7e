import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOwnerLink, makeResetLink } from '../../src/people/welcome.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { becomeOwner, joinAs, openBrowser, password, tokenOf, type Browser } from '../people.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { operate } from '../restore/operator.ts';

describe('test/journeys/people-links', () => {
  let test: TestDatabase;
  let platform: Platform;
  let owner: Browser;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    owner = await becomeOwner(platform, 'owner@example.com');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const accept = (browser: Browser, token: string, given: object): Promise<{ status: number }> =>
    browser.call('POST', '/invitations:accept', { token, ...given });
  const linkSaid = (said: string): string => tokenOf(/\S+#token=\S+/.exec(said)?.[0] ?? '');

  it('the operator invites an owner, and gives who lost the password a link, of which the newest holds', async () => {
    const invited = await operate(test.url, 'people', 'invite', '--owner', '--email', 'ada@example.com');
    expect(invited.code).toBe(0);
    const ada = openBrowser(platform.base);
    expect((await accept(ada, linkSaid(invited.said), { password })).status).toBe(200);
    const { body } = await ada.call<{ projects: unknown[] }>('GET', '/session');
    expect(body.projects).toMatchObject([{ name: 'default', role: 'owner' }]);

    const reset = ['people', 'reset', '--email', 'ada@example.com'];
    const older = linkSaid((await operate(test.url, ...reset)).said);
    const newer = linkSaid((await operate(test.url, ...reset)).said);
    const another = { password: `${password} and more` };
    expect((await accept(openBrowser(platform.base), older, another)).status).toBe(410);
    expect((await accept(openBrowser(platform.base), newer, another)).status).toBe(200);
    expect((await ada.call('GET', '/session')).status).toBe(401);
  }, 60_000);

  it('the operator makes an owner of who is a member already, and each project is told', async () => {
    const dev = await joinAs(platform, 'dev@example.com', 'developer');
    const invited = await operate(test.url, 'people', 'invite', '--owner', '--email', 'dev@example.com');
    expect((await accept(dev, linkSaid(invited.said), { password })).status).toBe(200);
    const { body } = await dev.call<{ person: object; projects: unknown[] }>('GET', '/session');
    expect(body).toMatchObject({
      person: { operator: true },
      projects: [{ name: 'default', role: 'owner' }],
    });
    const log = await owner.call<{ results: object[] }>(
      'GET',
      `/projects/default/audit-log?personId=${dev.personId}`,
    );
    expect(log.body.results.slice(0, 2)).toMatchObject([
      { action: 'person.updated', target: { id: dev.personId }, details: { operator: true } },
      { action: 'member.updated', details: { role: { before: 'developer', after: 'owner' } } },
    ]);
  }, 60_000);

  it.each(['owner@example.com', 'nobody@example.com'])(
    'a link for a new password is for whom it was made, whatever address is sent with it: %s',
    async (email) => {
      const whose = `of-${email}`;
      await joinAs(platform, whose, 'viewer');
      const link = linkSaid((await operate(test.url, 'people', 'reset', '--email', whose)).said);
      const another = `${password} and more`;
      const browser = openBrowser(platform.base);
      const accepted = await browser.call('POST', '/invitations:accept', {
        token: link,
        email,
        password: another,
      });
      expect(accepted.body).toMatchObject({
        person: { email: whose, operator: false },
        projects: [{ role: 'viewer' }],
      });
      const typed = { email, password: another };
      expect((await openBrowser(platform.base).call('POST', '/session', typed)).status).toBe(401);
      expect((await owner.call('GET', '/session')).status).toBe(200);
    },
    60_000,
  );

  it.each([
    ['is removed', 'DELETE', undefined],
    ['is no owner any more', 'PATCH', { role: 'viewer' }],
  ] as const)('the invitations of an owner who %s lead nowhere', async (_what, method, body) => {
    const email = `${method.toLowerCase()}@example.com`;
    const other = await joinAs(platform, email, 'owner');
    const made = await other.call<{ url: string }>('POST', '/projects/default/invitations', {
      email: `friend-of-${email}`,
      role: 'owner',
    });
    const { body: members } = await owner.call<{ id: string; email: string }[]>(
      'GET',
      '/projects/default/members',
    );
    const { id } = members.find((one) => one.email === email) ?? { id: '' };
    expect((await owner.call(method, `/projects/default/members/${id}`, body)).status).toBeLessThan(300);
    expect((await accept(openBrowser(platform.base), tokenOf(made.body.url), { password })).status).toBe(410);
    const action = method === 'DELETE' ? 'member.removed' : 'member.updated';
    const told = await owner.call<{ results: object[] }>(
      'GET',
      `/projects/default/audit-log?action=${action}`,
    );
    expect(told.body.results[0]).toMatchObject({ target: { id }, actor: { email: 'owner@example.com' } });
  });

  it('a link for a new password ends when its person changes the password', async () => {
    const eve = await joinAs(platform, 'eve@example.com', 'viewer');
    const link = await makeResetLink(test.database, platform.base, 'eve@example.com');
    const newPassword = `${password} and more`;
    const change = { currentPassword: password, newPassword };
    expect((await eve.call('POST', '/person:change-password', change)).status).toBe(204);
    expect((await accept(openBrowser(platform.base), tokenOf(link), { password })).status).toBe(410);
  });

  it('who was removed comes not back by an invitation to that project which they did not use', async () => {
    const email = 'bob@example.com';
    const path = '/projects/default/invitations';
    const unused = await owner.call<{ url: string }>('POST', path, { email, role: 'owner' });
    const link = await makeOwnerLink(test.database, platform.base, email);
    const bob = openBrowser(platform.base);
    expect((await accept(bob, tokenOf(link), { password })).status).toBe(200);
    const { body } = await bob.call<{ person: { id: string } }>('GET', '/session');
    expect((await owner.call('DELETE', `/projects/default/members/${body.person.id}`)).status).toBe(204);
    expect((await accept(bob, tokenOf(unused.body.url), {})).status).toBe(410);
    // Who is an operator stays one.
    expect((await bob.call('GET', '/projects/default')).status).toBe(404);
    expect((await bob.call('POST', '/projects', { name: 'of-bob' })).status).toBe(201);
  });

  it('the operator ends that somebody is one, with the links that would make them one again, but not the last', async () => {
    const email = 'zoe@example.com';
    const zoe = openBrowser(platform.base);
    const link = await makeOwnerLink(test.database, platform.base, email);
    expect((await accept(zoe, tokenOf(link), { password })).status).toBe(200);
    const unused = await makeOwnerLink(test.database, platform.base, email);
    const { body: me } = await zoe.call<{ person: { id: string } }>('GET', '/session');
    expect((await zoe.call('POST', '/projects', { name: 'of-zoe' })).status).toBe(201);

    expect(await operate(test.url, 'people', 'demote', '--email', 'Zoe@example.com')).toMatchObject({
      code: 0,
      said: expect.stringContaining('is no operator any more') as string,
    });
    await expect
      .poll(async () => (await zoe.call('POST', '/projects', { name: 'more' })).status, { timeout: 10_000 })
      .toBe(403);
    expect((await accept(zoe, tokenOf(unused), {})).status).toBe(410);
    const session = await zoe.call<{ projects: unknown[] }>('GET', '/session');
    const ofZoe: unknown = expect.objectContaining({ name: 'of-zoe', role: 'owner' });
    expect(session.body).toMatchObject({
      person: { operator: false },
      projects: expect.arrayContaining([ofZoe]) as unknown,
    });
    const log = await owner.call<{ results: object[] }>('GET', '/projects/default/audit-log');
    expect(log.body.results[0]).toMatchObject({
      action: 'person.updated',
      actor: { kind: 'operator' },
      target: { id: me.person.id },
      details: { operator: false },
    });
    const again = await operate(test.url, 'people', 'demote', '--email', email);
    expect(again).toMatchObject({
      code: 1,
      said: expect.stringContaining(`${email} is no operator`) as string,
    });
    await test.database.raw("UPDATE person SET operator = false WHERE email <> 'owner@example.com'");
    const last = await operate(test.url, 'people', 'demote', '--email', 'owner@example.com');
    expect(last).toMatchObject({ code: 1, said: expect.stringContaining('is the last operator') as string });
    expect((await owner.call('POST', '/projects', { name: 'of-the-last' })).status).toBe(201);
  }, 60_000);

  it('of two who accept one link at once the later finds it over', async () => {
    const made = await owner.call<{ url: string }>('POST', '/projects/default/invitations', {
      email: 'raced@example.com',
      role: 'viewer',
    });
    const token = tokenOf(made.body.url);
    const both = await Promise.all(
      [openBrowser(platform.base), openBrowser(platform.base)].map((browser) =>
        accept(browser, token, { password }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 410]);
  });
});
