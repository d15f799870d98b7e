import { describe, expect, it } from 'vitest';
import { idSuffix, makeId, normalizeId } from './ids.ts';

describe('simulator/salesforce/ids', () => {
  it('computes the suffix that Salesforce computes', () => {
    expect('00D000000000062' + idSuffix('00D000000000062')).toBe('00D000000000062EAA');
    expect(idSuffix('001A0000006Vm9r')).toBe('IAC');
  });

  it('makes ids that sort in order of their number', () => {
    const ids = [1, 9, 10, 35, 36, 61, 62, 3843, 3844].map((n) => makeId('003', n));
    expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
    expect(new Set(ids.map((id) => id.length))).toEqual(new Set([18]));
  });

  it('accepts 15 and 18 characters and restores lost case from the suffix', () => {
    const id = makeId('001', 123_456);
    expect(normalizeId(id.slice(0, 15))).toBe(id);
    expect(normalizeId(id)).toBe(id);
    expect(normalizeId(id.slice(0, 15).toLowerCase() + id.slice(15))).toBe(id);
  });

  it('refuses what is not an id', () => {
    for (const text of ['', '001', 'not an id here!', '001000000000001AB', '001Hs0000000001ZZZ']) {
      expect(normalizeId(text)).toBeUndefined();
    }
  });
});
