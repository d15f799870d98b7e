import { describe, expect, it } from 'vitest';
import { createClock, createOAuth, createRandom, createRouter } from './index.ts';

describe('simulator/kit/kit', () => {
  describe('router', () => {
    it('prefers fixed segments, decodes parameters and names the allowed methods', () => {
      const router = createRouter<string>();
      router.add('GET', '/things/:id', 'one');
      router.add('POST', '/things/search', 'search');
      router.add('GET', '/files/*rest', 'file');
      expect(router.match('POST', '/things/search')).toMatchObject({ value: 'search' });
      expect(router.match('GET', '/things/search/')).toMatchObject({
        value: 'one',
        params: { id: 'search' },
      });
      expect(router.match('GET', '/things/a%20b')).toMatchObject({ params: { id: 'a b' } });
      expect(router.match('HEAD', '/files/x/y')).toMatchObject({ params: { rest: 'x/y' } });
      expect(router.match('DELETE', '/things/1')).toEqual({ found: false, allowed: ['GET'] });
      expect(router.match('GET', '/nothing')).toBeUndefined();
    });
  });

  describe('random', () => {
    it('repeats itself for one seed and stream, and shuffles without loss', () => {
      const run = (seed: number, stream = '') =>
        createRandom(seed, stream).shuffle(Array.from({ length: 30 }, (_, i) => i));
      expect(run(1)).toEqual(run(1));
      expect(run(1)).not.toEqual(run(2));
      expect(run(1)).not.toEqual(run(1, 'other'));
      expect(run(3).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    });
  });

  describe('clock', () => {
    it('shifts, freezes, advances and runs on from where it was frozen', () => {
      const clock = createClock();
      clock.set({ freezeAt: '2030-01-01T00:00:00Z' });
      clock.set({ advanceMs: 500 });
      expect(clock.iso()).toBe('2030-01-01T00:00:00.500Z');
      clock.set({ freezeAt: null });
      expect(clock.now()).toBeGreaterThanOrEqual(Date.parse('2030-01-01T00:00:00.500Z'));
      clock.set({ shiftMs: 0 });
      expect(Math.abs(clock.now() - Date.now())).toBeLessThan(50);
      expect(() => clock.set({ freezeAt: 'soon' })).toThrow(/not a time/);
    });
  });

  describe('oauth', () => {
    const make = (options: object) =>
      createOAuth(
        { clock: createClock(), random: createRandom(1) },
        {
          accessLifeMs: () => 1000,
          mintAccess: (random) => random.uuid(),
          mintRefresh: (random) => random.uuid(),
          ...options,
        },
      );
    const who = { clientId: 'app', account: 'one', scopes: ['a'] };
    const refreshed = (oauth: ReturnType<typeof make>, token: string) =>
      oauth.refresh({ params: new URLSearchParams({ client_id: 'app', refresh_token: token }) });

    it('rotates refresh tokens and revokes the family when an old one comes back', () => {
      const oauth = make({ rotation: true });
      const first = oauth.tokens.grant(who).refreshToken;
      const next = refreshed(oauth, first);
      expect(next).toMatchObject({ ok: true });
      const second = next.ok ? next.refreshToken : '';
      const access = next.ok ? next.accessToken : '';
      expect(second).not.toBe(first);
      expect(refreshed(oauth, first)).toEqual({ ok: false, reason: 'reused' });
      expect(refreshed(oauth, second)).toEqual({ ok: false, reason: 'refresh' });
      expect(oauth.tokens.access(access)?.revoked).toBe(true);
    });

    it('keeps at most the capped number of grants, the newest', () => {
      const oauth = make({ grantCap: 2 });
      const tokens = [1, 2, 3].map(() => oauth.tokens.grant(who).refreshToken);
      expect(tokens.map((token) => oauth.tokens.grantOf(token) !== undefined)).toEqual([false, true, true]);
    });

    it('accepts client credentials by Basic header, form-encoded', () => {
      const oauth = make({});
      oauth.apps.set('a:b', { clientId: 'a:b', clientSecret: 's+&%' });
      const pair = `${encodeURIComponent('a:b')}:${encodeURIComponent('s+&%')}`;
      const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
      expect(oauth.client({ params: new URLSearchParams(), authorization })).toEqual({
        ok: true,
        clientId: 'a:b',
      });
    });

    it('refuses a refresh token of another client', () => {
      const oauth = make({});
      const token = oauth.tokens.grant({ ...who, clientId: 'other' }).refreshToken;
      expect(refreshed(oauth, token)).toEqual({ ok: false, reason: 'refresh' });
    });
  });
});
