import { describe, expect, test } from 'vitest';
import { timeTextOf } from './read.ts';

describe('src/providers/read', () => {
  test.each([
    '2026-03-01T07:08:09.010Z',
    '2026-03-01T07:08:09Z',
    '2026-03-01T07:08:09.5Z',
    '2026-03-01T07:08:09.010+0000',
    '2026-03-01T07:08:09+01:00',
    '2026-03-01',
    'Sun, 01 Mar 2026 07:08:09 GMT',
  ])('tells the time of %s in one form', (text) => {
    const at = Date.parse(text);
    expect(timeTextOf(at, text)).toBe(new Date(at).toISOString());
  });

  test('tells a time that came as a number', () => {
    expect(timeTextOf(1_772_348_889_010, 1_772_348_889_010)).toBe('2026-03-01T07:08:09.010Z');
  });
});
