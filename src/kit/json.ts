/** JSON that keeps numbers exact: what a double cannot hold is carried as its own text. */
import { parseExactly } from './exact-json.ts';

const { isRawJSON } = JSON as unknown as { isRawJSON: (this: void, value: unknown) => boolean };

/** A text whose numbers are all short integers needs no exact reader. */
const hasLongNumber = /\d{16}|\d[.eE]|-0/;
/** The same where a value begins. Most texts hold such digits in strings only: times, addresses, amounts as text. */
const mayLoseDigits = /(?:^|"[\t\n\r ]*:|[[,])[\t\n\r ]*(?:-0|-?\d{16}|-?\d{1,15}[.eE])/;

/**
 * Parses JSON; a number that JavaScript would change stays as sent and is written back digit for digit. `noteKept` is told of a value
 * with such a number.
 */
export function parseJson(text: string, noteKept?: (value: object) => void): unknown {
  // The first test is the cheaper one: it looks at digits, the second at each place where a value may begin.
  return hasLongNumber.test(text) && mayLoseDigits.test(text)
    ? parseExactly(text, noteKept)
    : (JSON.parse(text) as unknown);
}

/** True for a number kept as its text by {@link parseJson}. */
export function isExactNumber(value: unknown): value is { rawJSON: string } {
  return typeof value === 'object' && value !== null && isRawJSON(value);
}

/** How deep arrays and objects are nested; a scalar is 0. Stops counting past `limit`. */
export function jsonDepth(value: unknown, limit = Infinity): number {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return 0;
  let deepest = 0;
  for (const child of Object.values(value)) {
    if (deepest >= limit) return deepest + 1;
    deepest = Math.max(deepest, jsonDepth(child, limit - 1));
  }
  return deepest + 1;
}
