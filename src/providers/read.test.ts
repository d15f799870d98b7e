import { describe, expect, test } from 'vitest';
import type { ObjectDescription } from './connector.ts';
import { faultOfFilterValue, timeTextOf } from './read.ts';
import type { FieldMetadata } from './schema.ts';

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

  const object = (valueType: FieldMetadata['valueType']): ObjectDescription => ({
    name: 'deals',
    displayName: 'Deals',
    fields: { closed: { fieldName: 'closed', displayName: 'Closed', valueType } },
  });
  test.each([
    ['2026-01-31', true],
    ['2026-01-31T09:00Z', true],
    ['2026-01-31T09:00:00.000+01:00', true],
    ['1769850000000', true],
    [1_769_850_000_000, true],
    ['gestern', false],
    ['31.01.2026', false],
    ['2026-13-01', false],
    ['2026', false],
    [true, false],
  ])('asks for a date or a time by %s: %s', (value, isTaken) => {
    for (const type of ['date', 'datetime'] as const)
      expect(faultOfFilterValue(object(type), { fieldName: 'Closed', value }) === undefined).toBe(isTaken);
    expect(faultOfFilterValue(object('string'), { fieldName: 'closed', value })).toBeUndefined();
  });

  test('tells a time that came as a number', () => {
    expect(timeTextOf(1_772_348_889_010, 1_772_348_889_010)).toBe('2026-03-01T07:08:09.010Z');
  });
});
