import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactly } from './exact-json.ts';
import { isExactNumber, jsonDepth, parseJson } from './json.ts';

describe('kit/json', () => {
  test.each(['9007199254740993', '1e400', '1.50', '-0', '0.1', '1E5', '12345678901234567890.5', '1e-7'])(
    'the number %s is written back digit for digit',
    (number) => {
      const text = `{"a":[${number}],"b":"${number}"}`;
      expect(JSON.stringify(parseJson(text))).toBe(text);
    },
  );

  test('a number is written back digit for digit wherever it stands and whatever strings stand beside it', () => {
    const blank = fc.stringMatching(/^[\t\n\r ]{0,2}$/);
    const number = fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,4})?(?:[eE][-+]?\d{1,3})?$/);
    const string = fc
      .oneof(
        fc.string(),
        fc.constantFrom('2024-01-02T03:04:05.678Z', '",":-0', 'a, 1.5', '[0.10]', '\\":1e9', '\\'),
      )
      .map((text) => JSON.stringify(text));
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.tuple(blank, fc.oneof(number, string), blank).map((parts) => parts.join('')),
        fc.array(tie('json')).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(string, blank, tie('json')))
          .map((members) => `{${members.map(([key, space, value]) => `${key}${space}:${value}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(json, (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(parseExactly(text)));
      }),
      { numRuns: 500 },
    );
  });

  test('a number that JavaScript holds exactly stays a number', () => {
    expect(parseJson('{"a":1,"b":0.5,"c":-3}')).toEqual({ a: 1, b: 0.5, c: -3 });
    expect(isExactNumber((parseJson('[1e400]') as unknown[])[0])).toBe(true);
    expect(isExactNumber((parseJson('[1]') as unknown[])[0])).toBe(false);
  });

  test('of a member that stands twice the last counts, with long numbers as without', () => {
    expect(parseJson('{"a":1,"b":{"c":1,"c":2},"a":3}')).toEqual({ a: 3, b: { c: 2 } });
    expect(JSON.stringify(parseJson('{"a":1.50,"a":[1.25],"b":{"c":1.0,"c":2.00}}'))).toBe(
      '{"a":[1.25],"b":{"c":2.00}}',
    );
  });

  test('depth counts nesting and stops at the limit', () => {
    expect(jsonDepth(1)).toBe(0);
    expect(jsonDepth({ a: [{}] })).toBe(3);
    expect(jsonDepth(parseJson('[1e400]'))).toBe(1);
    expect(jsonDepth(parseJson(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 100)).toBeGreaterThan(100);
  });
});
