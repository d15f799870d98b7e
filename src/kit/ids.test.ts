import { describe, expect, it } from 'vitest';
import { isId, newId } from './ids.ts';

describe('src/kit/ids', () => {
  it('makes ids that are UUIDv7, each greater than the one before', () => {
    const ids = Array.from({ length: 5_000 }, newId);
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(isId(ids[0] ?? '')).toBe(true);
  });

  it('gives ids of one millisecond different tails', () => {
    const tails = Array.from({ length: 1_000 }, () => newId().slice(-8));
    expect(new Set(tails).size).toBe(tails.length);
  });
});
