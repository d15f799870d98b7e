import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../kit/json.ts';
import { sameValue } from './same-value.ts';

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
