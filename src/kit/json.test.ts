import { describe, expect, test } from 'vitest';
import { isExactNumber, jsonDepth, parseJson } from './json.ts';

describe('kit/json', () => {
  test.each(['9007199254740993', '1e400', '1.50', '-0', '0.1', '1E5', '12345678901234567890.5', '1e-7'])(
    'the number %s is written back digit for digit',
    (number) => {
      const text = `{"a":[${number}],"b":"${number}"}`;
      expect(JSON.stringify(parseJson(text))).toBe(text);
    },
  );

  test('a number that JavaScript holds exactly stays a number', () => {
    expect(parseJson('{"a":1,"b":0.5,"c":-3}')).toEqual({ a: 1, b: 0.5, c: -3 });
    expect(isExactNumber((parseJson('[1e400]') as unknown[])[0])).toBe(true);
    expect(isExactNumber((parseJson('[1]') as unknown[])[0])).toBe(false);
  });

  test('depth counts nesting and stops at the limit', () => {
    expect(jsonDepth(1)).toBe(0);
    expect(jsonDepth({ a: [{}] })).toBe(3);
    expect(jsonDepth(parseJson('[1e400]'))).toBe(1);
    expect(jsonDepth(parseJson(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 100)).toBeGreaterThan(100);
  });
});
