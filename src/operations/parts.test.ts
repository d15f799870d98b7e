import { describe, expect, it } from 'vitest';
import { createDoorbell } from './doorbell.ts';
import { createPermits } from './permits.ts';
import { describeProgress, describeResult } from './sentence.ts';
import { storable, storableJson } from './store/text.ts';
import type { Tally } from './work.ts';

const never = new AbortController().signal;

describe('operations/parts', () => {
  describe('permits', () => {
    it('hands out no more than there are, and shares what is scarce', async () => {
      const permits = createPermits(10);
      expect(await permits.acquire(4, never)).toBe(4);
      const waiting = [permits.acquire(20, never), permits.acquire(20, never), permits.acquire(20, never)];
      // Six were left for the first of them; the others share what comes back.
      expect(await waiting[0]).toBe(6);
      permits.release(4);
      expect(await Promise.all(waiting.slice(1))).toEqual([2, 2]);
    });

    it('lets a waiter leave, and gives its share to the next', async () => {
      const permits = createPermits(1);
      await permits.acquire(1, never);
      const leaving = new AbortController();
      const left = permits.acquire(1, leaving.signal);
      const next = permits.acquire(1, never);
      leaving.abort();
      expect(await left).toBe(0);
      permits.release(1);
      expect(await next).toBe(1);
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

  describe('sentence', () => {
    const subject = { resource: 'contacts', request: { type: 'update' }, attempt: 2 };
    const error = { index: 0, category: 'validation', retryable: false, message: 'no such field' } as const;
    const tally = (succeeded: number, failed: number, unknown: number): Tally => ({
      succeeded,
      failed,
      unknown,
      errors: failed + unknown > 0 ? [error] : [],
    });

    it.each([
      [tally(1, 0, 0), '[contacts] 1 record updated.'],
      [tally(2, 1, 0), '[contacts] 2 records updated, 1 failed: validation: no such field'],
      [
        tally(2, 1, 3),
        '[contacts] 2 records updated, 1 failed, 3 of unknown outcome: validation: no such field',
      ],
      [tally(0, 1, 0), '[contacts] validation: no such field'],
      [tally(0, 2, 1), '[contacts] validation: no such field (3 records not written)'],
    ])('%j reads %s', (counts, text) => {
      expect(describeResult(subject, counts)).toBe(text);
    });

    it('says that another attempt follows', () => {
      expect(describeProgress(subject, tally(0, 1, 0))).toBe(
        '[contacts] attempt 2 did not succeed, another follows: validation: no such field',
      );
    });
  });

  it('makes text storable that has a character the database cannot keep', () => {
    expect(storable('a\0b')).toBe('a\uFFFDb');
    expect(storableJson({ list: ['a\0b', 1], text: 'c\\u0000d' })).toBe(
      '{"list":["a\uFFFDb",1],"text":"c\\\\u0000d"}',
    );
  });
});
