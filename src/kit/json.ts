/** JSON that keeps numbers exact: what a double cannot hold is carried as its own text (contract, Surfaces). */
import { parseExactly } from './exact-json.ts';

const { isRawJSON } = JSON as unknown as { isRawJSON: (this: void, value: unknown) => boolean };

/** A text whose numbers are all short integers reads the same either way; only the others need the exact reader. */
const mayLoseDigits = /\d{16}|\d[.eE]|-0/;

/** Parses JSON; a number that JavaScript would change stays as sent and is written back digit for digit. */
export function parseJson(text: string): unknown {
  return mayLoseDigits.test(text) ? parseExactly(text) : (JSON.parse(text) as unknown);
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
