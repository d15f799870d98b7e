import { describe, expect, it } from 'vitest';
import { rangesOf, sameAs } from './write-lines.ts';

describe('cli/write/write-lines', () => {
  it('tells many numbers by where they begin and end', () => {
    expect(rangesOf([4])).toBe('4');
    const everyOther = Array.from({ length: 1_000 }, (_, index) => index * 2);
    expect(rangesOf(everyOther)).toMatch(/^0, 2, .*, 398 and 800 others$/);
    expect(rangesOf([30, 7, 9, 8, 31, 2])).toBe('2, 7-9, 30-31');
  });

  it('knows lines of one record by its id, in each form that it has', () => {
    const same = (one: unknown, other: unknown): boolean =>
      sameAs({ id: one }, undefined).record === sameAs({ id: other }, undefined).record;
    expect(same(5, '5')).toBe(true);
    expect(same('001D000000IRFma', '001D000000IRFmaIAH')).toBe(true);
    expect(same('001D000000IRFma', '001D000000IRFmA')).toBe(false);
    expect(sameAs({ name: 'new' }, undefined)).toEqual({});
  });

  it('knows lines of one record by what an upsert goes by, and lets those without it take turns', () => {
    const of = (record: Record<string, unknown>, by: string) => sameAs(record, by).record;
    expect(of({ email: 'Ada@example.com ' }, 'Email')).toBe(of({ Email: 'ada@example.com' }, 'email'));
    expect(of({ no: 'ORD-20240601-00001' }, 'no')).not.toBe(of({ no: 'ORD-20240601-00002' }, 'no'));
    expect(sameAs({ mail: 'ada@example.com' }, 'email')).toEqual({ turn: 'unnamed' });
  });
});
