import { access, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { becomeOwner, openBrowser, password, welcomeFile, welcomeToken, type Browser } from '../people.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/people', () => {
  let test: TestDatabase;
  let platform: Platform;
  let owner: Browser;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it('the first user comes by the link of the first start, once, and may do everything', async () => {
    const browser = openBrowser(platform.base);
    expect((await browser.call('GET', '/sign-in')).body).toEqual({ hasPeople: false });
    const token = await welcomeToken(platform);
    const look = await browser.call('POST', '/invitations:look', { token });
    expect(look.body).toMatchObject({ kind: 'welcome', role: 'owner', isKnown: false });
    owner = await becomeOwner(platform, 'Owner@Example.com');
    expect(owner.lastSet()).toMatch(
      /^svc-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { body } = await owner.call<Record<string, unknown>>('GET', '/session');
    expect(body).toMatchObject({
      state: 'signedIn',
      person: { email: 'owner@example.com', operator: true, secondFactor: false, hasPassword: true },
      projects: [{ name: 'default', role: 'owner', scopes: ['full'] }],
    });
    const again = await browser.call('POST', '/invitations:accept', {
      token,
      email: 'x@example.com',
      password,
    });
    expect([again.status, again.body['code']]).toEqual([410, 'invitation-over']);
    await expect(access(welcomeFile(platform))).rejects.toThrow('ENOENT');
    expect((await browser.call('GET', '/sign-in')).body).toEqual({ hasPeople: true });
  });

  it('no second link is made while somebody is there, nor while one holds', async () => {
    const rows = await test.database.raw('SELECT FROM invitation');
    expect(rows).toEqual([]);
    // Such as one that another node made: it is of no use any more.
    const file = welcomeFile(platform);
    await writeFile(file, 'left behind');
    await platform.restart();
    await expect(access(file)).rejects.toThrow('ENOENT');
    expect(await test.database.raw('SELECT FROM invitation')).toEqual([]);
  });

  it('a person signs in by e-mail address and password, and out', async () => {
    const browser = openBrowser(platform.base);
    expect((await browser.call('GET', '/session')).status).toBe(401);
    const wrong = await browser.call('POST', '/session', { email: 'owner@example.com', password: 'wrong' });
    expect([wrong.status, wrong.body['code']]).toEqual([401, 'sign-in-refused']);
    const right = await browser.call('POST', '/session', { email: 'OWNER@example.com', password });
    expect(right.body).toMatchObject({ state: 'signedIn' });
    expect((await browser.call('GET', '/projects/default/operations')).status).toBe(200);
    const stolen = browser.cookie();
    expect((await browser.call('DELETE', '/session')).status).toBe(204);
    expect(browser.cookie()).toBeUndefined();
    browser.setCookie(stolen);
    expect((await browser.call('GET', '/session')).status).toBe(401);
    expect((await browser.call('GET', '/projects/default/operations')).status).toBe(401);
  });

  it('a sign-in ends the earlier session of the same browser', async () => {
    const browser = openBrowser(platform.base);
    await browser.call('POST', '/session', { email: 'owner@example.com', password });
    const former = openBrowser(platform.base);
    former.setCookie(browser.cookie());
    expect((await former.call('GET', '/session')).status).toBe(200);
    await browser.call('POST', '/session', { email: 'owner@example.com', password });
    expect((await browser.call('GET', '/session')).status).toBe(200);
    expect((await former.call('GET', '/session')).status).toBe(401);
    expect((await owner.call('GET', '/session')).status).toBe(200);
  });

  it('a name holds no control characters', async () => {
    const refused = await owner.call('PATCH', '/person', { name: 'Ada\r\nOwner' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('no control characters')]);
    const key = await owner.call('POST', '/projects/default/api-keys', { label: 'a\u0007' });
    expect(key.status).toBe(400);
  });

  it('the log names the person, and no key', async () => {
    const { body } = await owner.call<{ person: { id: string } }>('GET', '/session');
    await expect.poll(() => platform.said()).toContain(`"personId":"${body.person.id}"`);
    expect(platform.said()).not.toContain(`"keyId":"${body.person.id}"`);
  });

  it('the audit log names the person', async () => {
    const made = await owner.call<{ id: string }>('POST', '/projects/default/api-keys', { label: 'by hand' });
    expect(made.status).toBe(201);
    const { body } = await owner.call<{ results: unknown[] }>(
      'GET',
      '/projects/default/audit-log?action=apiKey.created',
    );
    expect(body.results[0]).toMatchObject({
      target: { id: made.body.id },
      actor: { kind: 'person', email: 'owner@example.com' },
    });
  });

  it('a project that the operator makes is theirs at once, and an unknown one is not found', async () => {
    expect((await owner.call('POST', '/projects', { name: 'second' })).status).toBe(201);
    const { body } = await owner.call<{ name: string }[]>('GET', '/projects');
    expect(body.map(({ name }) => name)).toEqual(['default', 'second']);
    expect((await owner.call('GET', '/projects/second')).status).toBe(200);
    await platform.call('POST', '/projects', { name: 'foreign' });
    for (const name of ['foreign', 'made-up']) {
      const { status, text } = await owner.call('GET', `/projects/${name}/destinations`);
      expect([status, text.includes(`There is no project ${name} for owner@example.com`)]).toEqual([
        404,
        true,
      ]);
    }
  });

  it('a person who is signed in is told of a change at once, by each node', async () => {
    const second = await startPlatform({ databaseUrl: test.url, beside: platform });
    const elsewhere = openBrowser(second.base);
    elsewhere.setCookie(owner.cookie());
    const names = async (): Promise<string[]> => {
      const { body } = await elsewhere.call<{ projects: { name: string }[] }>('GET', '/session');
      return body.projects.map(({ name }) => name);
    };
    let before = 'second';
    for (const name of ['renamed', 'renamed-again', 'second']) {
      expect(await names()).toContain(before);
      const change = { updateMask: ['name'], project: { name } };
      expect((await owner.call('PATCH', `/projects/${before}`, change)).status).toBe(200);
      expect(await names()).toContain(name);
      before = name;
    }
    await second.stop();
  });
});
