import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { becomeOwner, joinAs, openBrowser, password, type Browser } from '../people.ts';
import { startPlatform, type Platform } from '../platform.ts';

type Problem = Record<string, unknown>;

describe('test/journeys/people-security', () => {
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

  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<{ status: number; code: unknown }> => {
    const sent = { 'content-type': 'application/json', cookie: owner.cookie() ?? '', ...headers };
    const answer = await fetch(`${platform.base}${path}`, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, code: text === '' ? undefined : (JSON.parse(text) as Problem)['code'] };
  };

  describe('requests of pages', () => {
    const topics = '/v1/projects/default/topics';
    const foreign: [string, Record<string, string>][] = [
      ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['of a neighbour', { origin: 'https://other.example.com', 'sec-fetch-site': 'same-site' }],
      ['of no origin', { origin: 'null' }],
      ['that says nothing', {}],
      ['of a name that begins alike', { origin: 'http://127.0.0.1.evil.example' }],
    ];

    it.each(foreign)('change nothing with the cookie: one %s', async (_name, headers) => {
      expect(await send('POST', topics, headers, { name: 'forged' })).toEqual({
        status: 403,
        code: 'cross-origin',
      });
      expect(await send('DELETE', '/v1/session', headers)).toEqual({ status: 403, code: 'cross-origin' });
      const signIn = { email: 'owner@example.com', password };
      expect((await send('POST', '/v1/session', headers, signIn)).code).toBe('cross-origin');
      expect((await owner.call<unknown[]>('GET', '/projects/default/topics')).body).toEqual([]);
    });

    it('of another origin read nothing with the cookie, also where the project allows the origin', async () => {
      const change = { updateMask: ['allowedOrigins'], project: { allowedOrigins: ['https://app.example'] } };
      expect((await owner.call('PATCH', '/projects/default', change)).status).toBe(200);
      const answer = await fetch(`${platform.base}/v1/projects/default`, {
        headers: { origin: 'https://app.example', cookie: owner.cookie() ?? '' },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect((await send('POST', topics, { origin: 'https://app.example' }, { name: 'forged' })).code).toBe(
        'cross-origin',
      );
    });

    it.each(['cross-site', 'same-site'])(
      'read nothing with the cookie by an image of a %s page',
      async (site) => {
        const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
        expect((await send('GET', '/v1/projects/default/connections', headers)).status).toBe(401);
        expect((await send('GET', '/v1/projects/default/connections', {})).status).toBe(200);
      },
    );

    it('of our own origin change things, by either header', async () => {
      expect((await send('POST', topics, { origin: platform.base }, { name: 'by-origin' })).status).toBe(201);
      expect(
        (await send('POST', topics, { 'sec-fetch-site': 'same-origin' }, { name: 'by-site' })).status,
      ).toBe(201);
    });
  });

  it('a cookie beside a key or a token counts for nothing', async () => {
    const key = await owner.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'r',
      scopes: ['read'],
    });
    const same = { 'sec-fetch-site': 'same-origin' };
    const withKey = await send(
      'POST',
      '/v1/projects/default/topics',
      { ...same, 'x-api-key': key.body.key },
      { name: 'x' },
    );
    expect(withKey).toEqual({ status: 403, code: 'forbidden' });
    expect((await send('GET', '/v1/projects/default', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await send('GET', '/v1/session', { 'x-api-key': key.body.key })).status).toBe(403);
    expect((await send('GET', '/metrics', {})).status).toBe(401);
  });

  it('the token of a session is in the cookie alone, and a digest of it in the database', async () => {
    const token = owner.cookie()?.split('=')[1] ?? '';
    expect(token).toHaveLength(43);
    const rows = await test.database.raw('SELECT row_to_json(s)::text AS row FROM person_session s');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => String(row).includes(token))).toEqual([]);
    expect((await owner.call('GET', '/session')).text).not.toContain(token);
    expect(platform.said()).not.toContain(token);
  });

  it('a session id that somebody chose beforehand is never the one that is signed in', async () => {
    const victim = openBrowser(platform.base);
    victim.setCookie(`svc-session=${'f'.repeat(43)}`);
    await victim.call('POST', '/session', { email: 'owner@example.com', password });
    expect(victim.cookie()).not.toBe(`svc-session=${'f'.repeat(43)}`);
    const attacker = openBrowser(platform.base);
    attacker.setCookie(`svc-session=${'f'.repeat(43)}`);
    expect((await attacker.call('GET', '/session')).status).toBe(401);
  });

  it('ends after hours of rest, and after days in any case', async () => {
    const rested = await joinAs(platform, 'rested@example.com', 'viewer');
    const id = rested.personId;
    await test.database.raw(
      `UPDATE person_session SET seen_at = now() - interval '721 minutes' WHERE person_id = $1`,
      [id],
    );
    const gone = async (): Promise<void> => {
      // The cache is read again within a second.
      await expect
        .poll(async () => (await rested.call('GET', '/session')).status, { timeout: 5_000 })
        .toBe(401);
    };
    await gone();
    const back = { email: 'rested@example.com', password };
    expect((await rested.call('POST', '/session', back)).status).toBe(200);
    await test.database.raw(
      `UPDATE person_session SET expires_at = now() - interval '1 second' WHERE person_id = $1`,
      [id],
    );
    await gone();
  });

  it('a session counts as unused while its page only follows changes, and as used while somebody works in it', async () => {
    const watching = await joinAs(platform, 'watching@example.com', 'viewer');
    const seen = async (): Promise<number> => {
      // What was noted of its use is written when the process ends.
      await platform.restart('SIGTERM');
      const [row] = await test.database.raw(
        `SELECT extract(epoch FROM now() - seen_at)::float8 AS ago FROM person_session WHERE person_id = $1`,
        [watching.personId],
      );
      return Number(row?.['ago']);
    };
    await test.database.raw(
      `UPDATE person_session SET seen_at = now() - interval '60 minutes' WHERE person_id = $1`,
      [watching.personId],
    );
    const stop = new AbortController();
    const headers = { cookie: watching.cookie() ?? '', 'sec-fetch-site': 'same-origin' };
    const stream = await fetch(`${platform.base}/v1/projects/default/stream`, {
      headers,
      signal: stop.signal,
    });
    expect(stream.status).toBe(200);
    const read = await watching.call('GET', '/projects/default/operations', undefined, {
      'svc-unattended': '1',
    });
    expect(read.status).toBe(200);
    stop.abort();
    expect(await seen()).toBeGreaterThan(3_000);
    expect((await watching.call('GET', '/projects/default/operations')).status).toBe(200);
    expect(await seen()).toBeLessThan(3_000);
  }, 60_000);

  describe('guessing', () => {
    const guess = (email: string) =>
      openBrowser(platform.base).call<Problem>('POST', '/session', { email, password: 'a wrong password' });

    it('is answered alike and as late for an unknown address', async () => {
      await joinAs(platform, 'timed@example.com', 'viewer');
      const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
      const answers: Problem[] = [];
      // By turns, so that other work on the machine slows down both.
      for (let time = 0; time < 4; time += 1)
        for (const [who, email] of [
          ['known', 'timed@example.com'],
          ['unknown', 'nobody@example.com'],
        ] as const) {
          const begun = performance.now();
          const { status, body } = await guess(email);
          took[who].push(performance.now() - begun);
          const { requestId: _id, time: _time, ...rest } = body;
          answers.push({ ...rest, status });
        }
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      // Without the hash an answer would take a tenth of the time.
      expect(Math.min(...took.unknown)).toBeGreaterThan(Math.min(...took.known) / 3);
    });

    it.each(['guessed@example.com', 'nobody-at-all@example.com'])(
      'is slowed, also where many guesses come at once: %s',
      async (email) => {
        if (email === 'guessed@example.com') await joinAs(platform, email, 'viewer');
        const answers = await Promise.all(Array.from({ length: 12 }, () => guess(email)));
        const refused = answers.filter(({ status }) => status === 401).length;
        expect(refused).toBeLessThanOrEqual(7);
        const slowed = answers.find(({ status }) => status === 429);
        expect(slowed?.body['code']).toBe('sign-in-slowed');
        expect(Number(slowed?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      },
    );

    it('does not end the sessions of the person who is guessed at, who can sign in again when the time is over', async () => {
      const ann = await joinAs(platform, 'ann@example.com', 'viewer');
      for (let time = 0; time < 7; time += 1) await guess('ann@example.com');
      expect((await ann.call('GET', '/session')).status).toBe(200);
      await test.database.raw('UPDATE sign_in_failure SET blocked_until = now()');
      const back = await openBrowser(platform.base).call('POST', '/session', {
        email: 'ann@example.com',
        password,
      });
      expect(back.status).toBe(200);
    });

    it('is slowed by each failure more, up to a quarter of an hour', async () => {
      const email = 'slower@example.com';
      // All guesses of these tests come from one network address, which is slowed by as many.
      await test.database.raw(`DELETE FROM sign_in_failure WHERE key LIKE 'address:%'`);
      for (let time = 0; time < 6; time += 1) expect((await guess(email)).status).toBe(401);
      const waits: number[] = [];
      const failAgain = async (): Promise<void> => {
        await test.database.raw('UPDATE sign_in_failure SET blocked_until = now()');
        expect((await guess(email)).status).toBe(401);
        const slowed = await guess(email);
        expect([slowed.status, slowed.body['code']]).toEqual([429, 'sign-in-slowed']);
        waits.push(Number(slowed.headers.get('retry-after')));
      };
      for (let time = 0; time < 5; time += 1) await failAgain();
      // Some of each has passed when the next attempt is refused.
      const [first, ...others] = waits;
      expect(first).toBeLessThanOrEqual(2);
      for (const [at, most] of [4, 8, 16, 32].entries()) {
        expect(others[at]).toBeLessThanOrEqual(most);
        expect(others[at]).toBeGreaterThan(most / 2);
      }
      await test.database.raw(`UPDATE sign_in_failure SET failures = 40 WHERE key LIKE 'email:%'`);
      await failAgain();
      expect(waits.at(-1)).toBeLessThanOrEqual(900);
      expect(waits.at(-1)).toBeGreaterThan(800);
    }, 30_000);

    it('keeps no address that was tried', async () => {
      const kept = async () => test.database.raw('SELECT * FROM sign_in_failure');
      const before = (await kept()).length;
      await test.database.raw('UPDATE sign_in_failure SET blocked_until = now()');
      expect((await guess('kept-nowhere@example.com')).status).toBe(401);
      const rows = await kept();
      expect(rows.length).toBeGreaterThan(before);
      expect(rows.map((row) => JSON.stringify(row)).filter((row) => /@|kept-nowhere/.test(row))).toEqual([]);
      expect(platform.said()).not.toContain('kept-nowhere');
    });
  });

  it('hostile names and addresses are kept as they are, or refused', async () => {
    const invite = (email: string) =>
      owner.call<Problem>('POST', '/projects/default/invitations', { email, role: 'viewer' });
    for (const email of [
      'no-at',
      'two@@example.com',
      'a b@example.com',
      'a\u0000@example.com',
      `${'a'.repeat(250)}@x.example`,
    ])
      expect((await invite(email)).status).toBe(400);
    const name = '<script>alert(1)</script>';
    expect((await owner.call<Problem>('PATCH', '/person', { name })).body).toMatchObject({
      person: { name },
    });
    for (const refused of ['nul\u0000', 'turned\u202e', '\u200b '])
      expect((await owner.call('PATCH', '/person', { name: refused })).status).toBe(400);
  });
});
