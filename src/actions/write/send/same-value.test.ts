import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../kit/json.ts';
import { canonicalIdOf } from '../../../providers/index.ts';
import { sameValue } from './same-value.ts';

const canonicalId = (id: string): string => canonicalIdOf('salesforce', id);

describe('src/actions/write/same-value', () => {
  test.each([
    ['Ada@Example.com ', 'ada@example.com'],
    [7, '7'],
    ['7.0', 7],
    [true, 'true'],
    [parseJson('9007199254740993'), '9007199254740993'],
    ['a\r\nb', 'a\nb'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000+0000'],
    [1_767_312_000_000, '2026-01-02'],
    ['b;a', 'a;b'],
    [';a', 'a'],
    [null, ''],
    [{ External_Id__c: 'x' }, null],
  ])('%j was kept as %j', (sent, standing) => {
    expect(sameValue(sent, standing)).toBe(true);
  });

  const userId = '005000000000001AAA';
  test.each([
    ['reference', userId.slice(0, 15), userId],
    ['datetime', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.000+0000'],
    ['date', '2026-01-02T03:04:05Z', '2026-01-02'],
    ['float', 10.125, 10.13],
    ['float', parseJson('0.10000000000000000001'), 0.1],
    ['float', '7.4', 7],
  ] as const)('a %s: %j was kept as %j', (valueType, sent, standing) => {
    expect(sameValue(sent, standing, { valueType, canonicalId })).toBe(true);
  });

  test.each([
    ['reference', userId.slice(0, 15), '005000000000002AAA'],
    ['datetime', '2026-01-02T03:04:06.000Z', '2026-01-02T03:04:05.678+0000'],
    ['datetime', '2026-01-02T03:04:06.001Z', '2026-01-02T03:04:05.000+0000'],
    ['date', '2026-01-03T03:04:05Z', '2026-01-02'],
    ['float', 10.126, 10.12],
    ['float', 'x', 'y'],
    ['string', '7.4', 7],
    ['string', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.000Z'],
    ['float', '', 0],
  ] as const)('a %s: %j is not %j', (valueType, sent, standing) => {
    expect(sameValue(sent, standing, { valueType, canonicalId })).toBe(false);
  });

  test.each([
    ['Ada', 'Grace'],
    [7, 8],
    ['x', null],
    [true, 'false'],
    [parseJson('9007199254740993'), '1'],
    ['2026-01-02', '2026-01-03'],
    ['a;b', 'a'],
    ['', 0],
  ])('%j is not %j', (sent, standing) => {
    expect(sameValue(sent, standing)).toBe(false);
  });
});
