import { array, assert, constantFrom, json, nat, oneof, property, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactly } from './exact-json.ts';

const { rawJSON, parse } = JSON as unknown as {
  rawJSON: (this: void, text: string) => object;
  parse: (
    this: void,
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
};

/** The same by the engine's own means, which take ten times as long. */
function byEngine(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/** What reading gives: the value as written again, with what it inherits, or that it is refused. */
function outcomeOf(read: (text: string) => unknown, text: string): unknown {
  try {
    const value = read(text);
    return { text: JSON.stringify(value), keys: Object.keys(Object(value)) };
  } catch (error) {
    return (error as Error).name;
  }
}

const numbers = constantFrom(
  '1',
  '-0',
  '1.50',
  '1e400',
  '9007199254740993',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1E+2',
);
const pieces = oneof(
  constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\n',
    '"',
    '\\',
    '"a"',
    '"\\u0041"',
    '"\\""',
    '"\\x"',
    'null',
  ),
  constantFrom(
    'true',
    'false',
    '"__proto__"',
    '"\t"',
    '\ufeff',
    '"\\ud800"',
    '\u00a0',
    '"0"',
    'tru',
    '{"a":1.0}',
  ),
  numbers,
);

describe('kit/exact-json', () => {
  test('it reads what the engine reads, and refuses what the engine refuses', () => {
    const valid = json({ maxDepth: 4 });
    const broken = tuple(valid, nat(), pieces).map(
      ([text, at, piece]) =>
        text.slice(0, at % (text.length + 1)) + piece + text.slice(at % (text.length + 1)),
    );
    const scraps = array(pieces, { maxLength: 12 }).map((each) => each.join(''));
    assert(
      property(oneof(valid, broken, scraps), (text) => {
        expect(outcomeOf(parseExactly, text)).toEqual(outcomeOf(byEngine, text));
      }),
      { numRuns: 5_000 },
    );
  });

  test('a fault is named in the words of the engine', () => {
    expect(() => parseExactly('{"a":1.0,}')).toThrow(/double-quoted property name/i);
  });

  test('what is nested too deep is refused', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}1.5${']'.repeat(levels)}`;
    expect(JSON.stringify(parseExactly(nested(2_000)))).toBe(nested(2_000));
    expect(() => parseExactly(nested(100_000))).toThrow(/nested deeper than 2000/);
  });
});
