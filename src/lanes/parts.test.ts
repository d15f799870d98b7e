import { describe, expect, it } from 'vitest';
import { createBreaker } from './breaker.ts';
import { createDoorbell } from './doorbell.ts';
import { createPool } from './pool.ts';
import { createReturns } from './returns.ts';

const never = new AbortController().signal;

describe('lanes/parts', () => {
  describe('pool', () => {
    it('gives one share two thirds, and leaves something for each other one', async () => {
      const pool = createPool(600);
      expect(await pool.acquire(['a'], 1, 600, never)).toBe(400);
      expect(await pool.acquire(['b'], 1, 600, never)).toBe(133);
      expect(await pool.acquire(['c'], 1, 600, never)).toBe(44);
      const more = pool.acquire(['a'], 1, 600, never);
      pool.release(['b'], 133);
      pool.release(['c'], 44);
      pool.release(['a'], 100);
      expect(await more).toBeGreaterThan(0);
    });

    it('shares what is scarce, and keeps nobody waiting behind one who has his part', async () => {
      const pool = createPool(12);
      expect(await pool.acquire(['a'], 1, 12, never)).toBe(8);
      let isServed = false;
      const waiting = pool.acquire(['a'], 1, 12, never).then(() => (isServed = true));
      expect(await pool.acquire(['b'], 1, 12, never)).toBe(2);
      expect(await pool.acquire(['c'], 1, 12, never)).toBe(1);
      expect(isServed).toBe(false);
      pool.release(['a'], 8);
      await waiting;
      expect(isServed).toBe(true);
    });

    it('gives many hosts of one provider two thirds together, and one of them as much of that', async () => {
      const pool = createPool(600);
      expect(await pool.acquire(['p', 'p1'], 1, 600, never)).toBe(266);
      let all = 266;
      for (let n = 2; n < 200; n += 1) {
        const leave = new AbortController();
        const got = pool.acquire(['p', `p${n}`], 1, 600, leave.signal);
        leave.abort();
        all += await got;
      }
      expect(all).toBe(400);
      expect(await pool.acquire(['q', 'q1'], 1, 600, never)).toBe(88);
      const more = pool.acquire(['p', 'p1'], 1, 600, never);
      pool.release(['p', 'p1'], 266);
      expect(await more).toBeGreaterThan(0);
    });

    it('lets a waiter go that found nothing within its time', async () => {
      const pool = createPool(1);
      await pool.acquire(['a'], 1, 1, never);
      expect(await pool.acquire(['b'], 1, 1, never, 10)).toBe(0);
      pool.release(['a'], 1);
      expect(await pool.acquire(['c'], 1, 1, never)).toBe(1);
    });

    it('lets a waiter leave, or turns all of a share away, and gives what they wait for to the next', async () => {
      const pool = createPool(1);
      await pool.acquire(['a'], 1, 1, never);
      const leaving = new AbortController();
      const left = pool.acquire(['b'], 1, 1, leaving.signal);
      const sent = pool.acquire(['c'], 1, 1, never);
      const next = pool.acquire(['d'], 1, 1, never);
      leaving.abort();
      pool.turnAway(['c']);
      expect([await left, await sent]).toEqual([0, 0]);
      pool.release(['a'], 1);
      expect(await next).toBe(1);
    });
  });

  it('lets a lane that finds no place come back later each time, within a minute, until it finds one', () => {
    const returns = createReturns();
    const next = (): number => returns.inMs('lane');
    expect([next(), next(), next()]).toEqual([1_000, 2_000, 4_000]);
    expect(returns.inMs('other')).toBe(1_000);
    expect(Array.from({ length: 2_000 }, next).at(-1)).toBe(60_000);
    returns.found('lane');
    expect(next()).toBe(1_000);
  });

  describe('breaker', () => {
    it('lets a share rest after five silences in a row, twice as long each time, and tries it by one lane', () => {
      let now = 0;
      const breaker = createBreaker(() => now);
      for (let n = 0; n < 4; n += 1) breaker.heard('host', `lane ${n}`, 'silence');
      expect(breaker.restMs('host')).toBe(0);
      for (let n = 4; n < 9; n += 1) breaker.heard('host', `lane ${n}`, 'silence');
      expect(breaker.restMs('host')).toBe(1_000);
      expect(breaker.restMs('other')).toBe(0);
      now = 1_000;
      expect([breaker.restMs('host'), breaker.isProbing('host')]).toEqual([0, true]);
      breaker.probe('host', 'lane 1');
      expect(breaker.restMs('host')).toBeGreaterThan(0);
      // Of a call that began before.
      breaker.heard('host', 'lane 2', 'silence');
      now = 1_500;
      breaker.heard('host', 'lane 1', 'silence');
      expect(breaker.restMs('host')).toBe(2_000);
      now = 3_500;
      breaker.probe('host', 'lane 3');
      breaker.giveUp('host', 'lane 3');
      expect(breaker.restMs('host')).toBe(0);
      breaker.heard('host', 'lane 4', 'answer');
      expect([breaker.restMs('host'), breaker.isProbing('host')]).toEqual([0, false]);
    });

    it('lets a lane have one more call with each answer, and one after a silence', () => {
      const breaker = createBreaker(() => 0);
      expect(breaker.mostOf('lane')).toBe(2);
      breaker.heard('host', 'lane', 'answer');
      breaker.heard('host', 'lane', 'answer');
      expect(breaker.mostOf('lane')).toBe(4);
      breaker.heard('host', 'lane', 'silence');
      expect(breaker.mostOf('lane')).toBe(1);
    });
  });

  describe('doorbell', () => {
    it('does not lose a ring while nobody waits', async () => {
      const bell = createDoorbell();
      bell.ring();
      expect(bell.rung()).toBe(true);
      await bell.wait(60_000);
      expect(bell.rung()).toBe(false);
      const waiting = bell.wait(60_000);
      bell.ring();
      await waiting;
    });

    it('ends the wait after its time', async () => {
      const startedAt = performance.now();
      await createDoorbell().wait(20);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    });
  });
});
