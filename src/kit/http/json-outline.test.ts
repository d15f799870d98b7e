import { array, assert, constantFrom, json, nat, property, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactly } from '../exact-json.ts';
import { JsonOutline } from './json-outline.ts';

/** The text in two pieces, cut at any byte. */
function outlined(text: string, cut: number, maxValues = 1_000): JsonOutline {
  const bytes = Buffer.from(text);
  const outline = new JsonOutline(maxValues);
  outline.add(bytes.subarray(0, cut % (bytes.length + 1)));
  outline.add(bytes.subarray(cut % (bytes.length + 1)));
  return outline;
}

function excess(text: string, cut: number, maxValues: number): string | undefined {
  return outlined(text, cut, maxValues).add(Buffer.of());
}

describe('kit/http/json-outline', () => {
  test('sees every number that JavaScript would change, however the text is cut', () => {
    const number = constantFrom(
      '1',
      '-1',
      '-0',
      '0.5',
      '1.50',
      '1e2',
      '1E400',
      '9007199254740993',
      '123456789012345',
    );
    const texts = tuple(array(number), json()).map(
      ([numbers, other]) => `{"n":[${numbers.join(',')}],"o":${other}}`,
    );
    assert(
      property(texts, nat(), (text, cut) => {
        const isKept = JSON.stringify(JSON.parse(text)) === JSON.stringify(parseExactly(text));
        expect(isKept || outlined(text, cut).mayLoseDigits).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('takes no text for a number', () => {
    const text = JSON.stringify({
      'a1.5': '-0 1e5 "1.50\\" 12345678901234567890',
      b: [true, false, null, -12],
    });
    expect(outlined(text, 20).mayLoseDigits).toBe(false);
  });

  test('counts members and elements, and not what stands in a text', () => {
    expect(excess('{"a":[1,2,3],"b":",,,,[[[["}', 9, 6)).toBeUndefined();
    expect(excess('{"a":[1,2,3],"b":",,,,[[[["}', 9, 5)).toMatch(/more than 5 values/);
    expect(excess('['.repeat(2_000), 7, 10_000)).toMatch(/nested deeper/);
    expect(excess('['.repeat(2_000) + ']'.repeat(2_000), 7, 10_000)).toMatch(/nested deeper/);
  });
});
