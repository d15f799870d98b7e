import { describe, expect, it } from 'vitest';
import { isId, newId, timeOf } from './ids.ts';

describe('src/kit/ids', () => {
  it('makes ids that are UUIDv7, each greater than the one before', () => {
    const ids = Array.from({ length: 5_000 }, newId);
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(isId(ids[0] ?? '')).toBe(true);
  });

  it('puts the time of its making into an id', () => {
    const before = Date.now();
    const made = timeOf(newId());
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThan(Date.now() + 1_000);
  });

  it.each([
    ['0190a5d2-9c3b-7def-8abc-0123456789ab', true],
    ['0190A5D2-9C3B-7DEF-8ABC-0123456789AB', true],
    ['00000000-0000-0000-0000-000000000000', true],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', true],
    ['0190a5d2-9c3b-9def-8abc-0123456789ab', false],
    ['0190a5d2-9c3b-7def-7abc-0123456789ab', false],
    ['0190a5d29c3b7def8abc0123456789ab', false],
    ['x0190a5d2-9c3b-7def-8abc-0123456789ab', false],
    ['default', false],
    ['', false],
  ])('takes %j for an id: %j', (text, expected) => {
    expect(isId(text)).toBe(expected);
  });

  it('gives ids of one millisecond different tails', () => {
    const tails = Array.from({ length: 1_000 }, () => newId().slice(-8));
    expect(new Set(tails).size).toBe(tails.length);
  });
});
