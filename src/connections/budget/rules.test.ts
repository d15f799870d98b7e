import { describe, expect, test } from 'vitest';
import { connectorOf, type Provider } from '../../providers/index.ts';
import { readMessage, writeMessage } from './channel.ts';
import {
  addToQuota,
  dailyQuota,
  dailyWaitMs,
  limitReached,
  quotaNames,
  quotaTold,
  reserveWaitMs,
  type Quota,
} from './rules.ts';
import { createSharedClock } from './shared-clock.ts';

const now = Date.UTC(2026, 10, 20, 14, 0, 0);
const generic = (rateLimit?: Provider['rateLimit']): Provider =>
  ({
    name: 'x',
    displayName: 'X',
    authType: 'none',
    baseURL: 'https://x.test',
    rateLimit,
  }) as unknown as Provider;

function reached(
  name: string,
  status: number,
  body: string,
  headers = {},
  rateLimit?: Provider['rateLimit'],
) {
  return limitReached(generic(rateLimit), connectorOf(name), { status, headers, body }, now);
}

describe('connections/budget/rules', () => {
  test.each([
    [
      { limit: 'x-day', remaining: 'x-left' },
      { 'x-day': '1000', 'x-left': '150' },
      { limit: 1000, remaining: 150 },
    ],
    [{ usage: 'x-info' }, { 'x-info': 'api-usage=850/1000' }, { limit: 1000, remaining: 150 }],
    [{ usage: 'x-info' }, { 'x-info': 'none' }, undefined],
    [{ limit: 'x-day', remaining: 'x-left' }, {}, undefined],
  ])('what a provider tells of the day by %o is read from %o', (daily, headers, told) => {
    const answer = { status: 200, headers, body: '' };
    const expected = told && { ...told, at: now };
    expect(dailyQuota(generic({ daily }), answer, now)).toEqual(expected);
  });

  test('history alone waits while little of the day is left, and asks again after a quarter of an hour', () => {
    const quota = { limit: 1000, remaining: 150, at: now };
    const waits = (priority: 'read' | 'backfill', reservePercent: number, after: number) =>
      dailyWaitMs(quota, priority, { reservePercent, now: now + after });
    expect(waits('backfill', 20, 60_000)).toBe(840_000);
    expect(waits('backfill', 20, 1_000_000)).toBe(0);
    expect(waits('backfill', 15, 0)).toBe(0);
    expect(waits('read', 20, 0)).toBe(0);
    expect(dailyWaitMs(undefined, 'backfill', { reservePercent: 20, now })).toBe(0);
  });

  test.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Fri, 20 Nov 2026 14:00:05 GMT' }, 5_000],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'soon' }, 10_000],
    [{}, 10_000],
  ])('H6 a 429 of a provider without a connector waits as %o says', (headers, forMs) => {
    expect(reached('none', 429, 'x', headers)).toEqual({ forMs, lockedOut: false });
  });

  test('the headers that the catalogue names are asked, and a second of the epoch counts from now', () => {
    const rateLimit = { after: ['x-wait'], at: ['x-reset'] };
    expect(reached('none', 429, '', { 'x-wait': '3' }, rateLimit)?.forMs).toBe(3_000);
    expect(reached('none', 429, '', { 'x-reset': String(now / 1000 + 4) }, rateLimit)?.forMs).toBe(4_000);
    expect(reached('none', 429, '', { 'x-reset': String(now + 4_000) }, rateLimit)?.forMs).toBe(4_000);
  });

  test('what takes a quarter of an hour or more is a lock-out, and a day is the most', () => {
    expect(reached('none', 429, '', { 'retry-after': '899' })?.lockedOut).toBe(false);
    expect(reached('none', 429, '', { 'retry-after': '900' })).toEqual({ forMs: 900_000, lockedOut: true });
    expect(reached('none', 429, '', { 'retry-after': '99999999' })?.forMs).toBe(86_400_000);
  });

  test('§7.5, H6 the body of HubSpot names the window', () => {
    const said = (policyName: string) => JSON.stringify({ errorType: 'RATE_LIMIT', policyName });
    expect(reached('hubspot', 429, said('TEN_SECONDLY_ROLLING'))).toEqual({
      forMs: 10_000,
      lockedOut: false,
    });
    expect(reached('hubspot', 429, said('SECONDLY'))).toEqual({ forMs: 1_000, lockedOut: false });
    expect(reached('hubspot', 429, said('DAILY'))).toEqual({ forMs: 3_600_000, lockedOut: true });
  });

  test('§7.5, S6 Salesforce says it with 403 and a code; other 403s are none', () => {
    const said = (errorCode: string, message: string) => JSON.stringify([{ errorCode, message }]);
    expect(
      reached('salesforce', 403, said('REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.')),
    ).toEqual({
      forMs: 900_000,
      lockedOut: true,
    });
    expect(
      reached('salesforce', 403, said('REQUEST_LIMIT_EXCEEDED', 'ConcurrentRequests Limit exceeded.')),
    ).toEqual({ forMs: 5_000, lockedOut: false });
    expect(reached('salesforce', 403, said('INSUFFICIENT_ACCESS', 'no'))).toBeUndefined();
    expect(reached('none', 403, said('REQUEST_LIMIT_EXCEEDED', 'x'))).toBeUndefined();
    expect(reached('hubspot', 503, '')).toBeUndefined();
  });

  test('reads a quota from the headers that the catalogue names', () => {
    const names = quotaNames(generic({ limit: 'x-limit', remaining: 'x-left', at: ['x-reset'] }));
    const quota: Quota = {};
    for (const [name, value] of [
      ['x-limit', '100'],
      ['x-left', '7'],
      ['x-reset', '1763640000'],
    ] as const) {
      const member = names?.get(name);
      if (member) addToQuota(quota, member, value);
    }
    expect(quota).toEqual({ limit: 100, remaining: 7, resetAt: 1_763_640_000_000 });
    addToQuota(quota, 'remaining', 'many');
    expect(quota.remaining).toBe(7);
    expect(quotaNames(generic({ after: ['retry-after'] }))).toBeUndefined();
  });

  test('notes the quota that an answer tells, and nothing where it tells none', () => {
    const names = quotaNames(generic({ limit: 'x-limit', remaining: 'x-left' })) ?? new Map();
    const answer = (headers: Record<string, string>) => ({ status: 200, headers, body: '' });
    expect(quotaTold(names, answer({ 'x-limit': '100', 'x-left': ' 7 ', 'x-other': '1' }))).toEqual({
      limit: 100,
      remaining: 7,
    });
    expect(quotaTold(names, answer({ 'x-left': '' }))).toBeUndefined();
    expect(quotaTold(new Map(), answer({ 'x-left': '7' }))).toBeUndefined();
  });

  test('reads and backfills leave the end of a window to those who come first', () => {
    const quota = { limit: 100, remaining: 20, resetAt: now + 500 };
    expect(reserveWaitMs(quota, 'interactive', now)).toBe(0);
    expect(reserveWaitMs(quota, 'write', now)).toBe(0);
    expect(reserveWaitMs(quota, 'read', now)).toBe(0);
    expect(reserveWaitMs(quota, 'backfill', now)).toBe(500);
    expect(reserveWaitMs({ ...quota, remaining: 9 }, 'read', now)).toBe(500);
    expect(reserveWaitMs({ limit: 100, remaining: 0 }, 'backfill', now)).toBe(0);
  });

  test('a message between nodes survives what it does not know', () => {
    const one = { projectId: 'p', connectionId: 'c', until: now, lockedOut: true, generation: 7 };
    expect(readMessage(writeMessage([one, { ...one, lockedOut: false }]))).toEqual([
      one,
      { ...one, lockedOut: false },
    ]);
    expect(readMessage(`p/c/${now}/1`)).toEqual([{ ...one, generation: 0 }]);
    expect(readMessage('')).toEqual([]);
    expect(readMessage('x,p/c/nonsense/1')).toEqual([]);
  });

  test('the shared clock keeps what may be right and leaves what cannot', () => {
    const clock = createSharedClock();
    const read = (at: number): number => Math.round(clock.now() - performance.now() + at);
    clock.set(1_000_000, 0, 10);
    expect(read(0)).toBe(999_995);
    clock.set(1_000_050, 0, 200);
    expect(read(0)).toBe(999_995);
    clock.set(9_000_000, 0, 10);
    expect(read(0)).toBe(8_999_995);
  });
});
