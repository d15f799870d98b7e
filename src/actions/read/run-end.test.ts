import { describe, expect, it } from 'vitest';
import type { Failure } from '../../providers/index.ts';
import { endsOf, type RunningItem } from './run-end.ts';
import type { Run } from './store/runs.ts';

const run: Run = {
  requestId: null,
  operationId: 'o',
  installationId: 'i',
  objectName: 'contacts',
  type: 'scheduled',
  since: 1,
  until: 2,
  untilNow: false,
  cursor: null,
  deleted: false,
  page: 0,
  processed: 0,
  emitted: 0,
  estimated: null,
  failures: 0,
  failingMs: 0,
  told: [],
  isPaused: false,
  isDropped: false,
  firstAt: null,
};
const item = (given: Partial<Run> = {}): RunningItem => ({
  projectId: 'p',
  seq: '1',
  laneId: 'l',
  isOfNode: false,
  lease: 'x',
  mark: null,
  kind: 'read',
  ref: 'o',
  attempt: 1,
  remainingMs: 1e9,
  expired: false,
  run: { ...run, ...given },
});
const ends = (given: Partial<Run> = {}) =>
  endsOf(item(given), { place: {}, pauseAfter: 10, random: () => 1 });
const down: Failure = { category: 'providerDown', retryable: true, message: 'away' };

describe('actions/read/run-end', () => {
  it('moves the watermark by a scheduled run that is whole, and by no other', () => {
    const counts = { emitted: 3, processed: 5, page: 2, until: 2 };
    expect(ends().whole(counts, ['gone'])).toMatchObject({
      done: true,
      status: 'success',
      watermark: 2,
      result: '[contacts] 5 records read in 2 pages; 2 had been delivered before',
      logs: [
        { severity: 'warning', msg: 'the provider has no field gone; it was left out' },
        { severity: 'info' },
      ],
    });
    for (const type of ['backfill', 'triggered'] as const)
      expect(ends({ type }).whole(counts, [])).not.toHaveProperty('watermark');
  });

  it('tries a failure again, ever later, and gives up after a day', () => {
    expect(ends().failed(down)).toMatchObject({
      heard: 'silence',
      end: { done: false, waitMs: 2_000, spent: true },
    });
    expect(ends({ failures: 3 }).failed(down).end.waitMs).toBe(16_000);
    expect(ends({ failures: 30 }).failed(down).end.waitMs).toBe(300_000);
    expect(ends({ failures: 300, failingMs: 86_400_000 }).failed(down).end).toMatchObject({
      done: true,
      status: 'failure',
      result: '[contacts] away',
    });
  });

  it('counts between two failures no more than the longest wait: nobody asked the provider in longer ones', () => {
    const twoDays = 2 * 86_400_000;
    expect(ends({ failures: 1, failingMs: twoDays }).failed(down).end.done).toBe(false);
    expect(ends({ failures: 95, failingMs: twoDays }).failed(down).end.done).toBe(false);
    expect(ends({ failures: 96, failingMs: twoDays }).failed(down).end.done).toBe(true);
  });

  it('waits as long as the provider asks, a quarter of an hour at a time, without a failure', () => {
    const limited = (retryAfterMs: number) =>
      ends().failed({ category: 'rateLimit', retryable: true, message: 'slow', retryAfterMs });
    expect(limited(7_000)).toMatchObject({
      end: { done: false, waitMs: 7_000, spent: false, failed: false },
    });
    // The lane has the writes of the connection, too.
    expect(limited(7_000)).not.toHaveProperty('laneWaitsMs');
    expect(limited(99_999_999_999_000).end.waitMs).toBe(900_000);
    expect(ends().failed({ ...down, retryAfterMs: 99_999_999_999_000 }).end.waitMs).toBe(900_000);
    expect(ends().later(99_999_999_999_000).waitMs).toBe(900_000);
  });

  it('ends with what no repetition mends, and counts dead credentials not towards a pause', () => {
    const refused = ends().failed({ category: 'validation', retryable: false, message: 'no' }).end;
    expect(refused).toMatchObject({ done: true, status: 'failure', excused: false });
    expect(refused).not.toHaveProperty('watermark');
    const dead = ends().failed({ category: 'auth', retryable: false, message: 'no' }).end;
    expect(dead).toMatchObject({ done: true, status: 'failure', excused: true });
  });

  it('lets a history wait for the customer, for whom nothing else would read it again', () => {
    for (const category of ['auth', 'permission'] as const) {
      const dead: Failure = { category, retryable: false, message: 'no' };
      const { end } = ends({ type: 'backfill', failingMs: 1e10 }).failed(dead);
      expect(end).toMatchObject({ done: false, status: 'in_progress', waitMs: 300_000, waits: true });
      expect(ends({ type: 'backfill', told: ['account'] }).failed(dead).end).toMatchObject({
        waits: false,
        logs: [],
      });
      expect(ends({ type: 'triggered' }).failed(dead).end.done).toBe(true);
      expect(end.logs[0]?.msg).toContain('waits until the account is connected again');
      const refused = ends({ type: 'backfill' }).failed({ ...dead, refusedHere: true }).end;
      expect(refused.logs[0]?.msg).toContain('waits until the operator allows it');
    }
  });

  it('tells of a wait for somebody, which is no failure that lasts', () => {
    expect([ends().later(5).rests, ends().later(5, { rests: true }).rests]).toEqual([false, true]);
    const dead: Failure = { category: 'auth', retryable: false, message: 'no' };
    expect(ends({ type: 'backfill' }).failed(dead).end.rests).toBe(true);
    expect(ends({ type: 'backfill' }).failed(down).end.rests).toBe(false);
  });

  it('says once what it waits for', () => {
    const because = { key: 'destination', msg: 'there is no destination d' };
    expect(ends().later(5, { because })).toMatchObject({
      waits: true,
      told: ['destination'],
      logs: [{ msg: because.msg }],
    });
    expect(ends({ told: ['destination'] }).later(5, { because })).toMatchObject({ waits: false, logs: [] });
  });

  it('says again what it waits for, and begins to count anew, behind a page that is kept', () => {
    const because = { key: 'destination', msg: 'there is no destination d' };
    const before = ends({ told: ['destination', 'account'], failures: 96, failingMs: 86_400_000 });
    expect(before.failed(down).end.done).toBe(true);
    const behind = before.behindPage();
    expect(behind.later(5)).toMatchObject({ told: [] });
    expect(behind.later(5, { because })).toMatchObject({ waits: true, told: ['destination'] });
    expect(behind.failed(down).end).toMatchObject({ done: false, waitMs: 2_000 });
  });
});
