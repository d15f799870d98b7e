import { describe, expect, it } from 'vitest';
import { pauseOf } from './idempotency.ts';

describe('write/idempotency', () => {
  it.each([
    [-5_000, 1],
    [0, 1],
    [5_000, 1],
    [30_000, 6],
    [90_000, 18],
    [3_600_000, 20],
  ])('of what began %i ms ago is asked again after %i s', (ms, seconds) => {
    expect(pauseOf(ms)).toBe(seconds);
  });
});
