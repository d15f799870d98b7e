/** JSON that keeps numbers exact: what a double cannot hold is carried as its own text (contract, Surfaces). */

interface ReviverContext {
  source?: string;
}
type RawJsonFunctions = {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown): unknown;
};
// ECMAScript's "JSON.parse source text access", in V8 since 11.4; TypeScript does not declare it yet.
const exact = JSON as unknown as RawJsonFunctions;

/** A body whose numbers are all short integers reads the same either way; only the others pay for the exact path. */
const mayLoseDigits = /\d{16}|\d[.eE]|-0/;

/** Parses JSON; a number that JavaScript would change stays as sent and is written back digit for digit. */
export function parseJson(text: string): unknown {
  if (!mayLoseDigits.test(text)) return JSON.parse(text) as unknown;
  return exact.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && String(value) !== context.source
      ? exact.rawJSON(context.source)
      : value,
  );
}

/** True for a number kept as its text by {@link parseJson}. */
export function isExactNumber(value: unknown): value is { rawJSON: string } {
  return typeof value === 'object' && value !== null && exact.isRawJSON(value);
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
