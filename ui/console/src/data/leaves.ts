/** A value and the way to it in a JSON document; an array is one value. */
export type Leaves = ReadonlyMap<string, unknown>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The way to a value, as a key: the names are kept apart whatever they hold. */
const keyOf = (path: readonly string[]): string => JSON.stringify(path);
export const pathOf = (key: string): string[] => JSON.parse(key) as string[];

export function leavesOf(value: unknown, path: readonly string[] = []): Leaves {
  if (!isObject(value) || (Object.keys(value).length === 0 && path.length > 0))
    return new Map([[keyOf(path), value]]);
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => Array.from(leavesOf(inner, path.concat(name)))),
  );
}

export interface Change {
  key: string;
  before: unknown;
  after: unknown;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What is different, by the way to it; what is missing on a side is undefined. */
export function changesBetween(before: unknown, after: unknown): Change[] {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((key) => !isSame(was.get(key), is.get(key)))
    .map((key) => ({ key, before: was.get(key), after: is.get(key) }));
}

/** A copy with the value at the path; undefined removes it, and the objects that are empty without it. */
export function withValue<Whole>(whole: Whole, [name, ...rest]: readonly string[], value: unknown): Whole {
  if (name === undefined) return value as Whole;
  const copy: Record<string, unknown> = isObject(whole) ? { ...whole } : {};
  const inner = rest.length === 0 ? value : withValue(copy[name], rest, value);
  const isGone =
    inner === undefined || (value === undefined && isObject(inner) && Object.keys(inner).length === 0);
  if (isGone) delete copy[name];
  else
    Object.defineProperty(copy, name, { value: inner, enumerable: true, configurable: true, writable: true });
  return copy as Whole;
}

/** What was changed here, on top of what was changed there; `both` holds what both changed, each in another way. */
export function merge<Whole>(base: Whole, mine: Whole, theirs: Whole): { merged: Whole; both: Change[] } {
  const there = new Map(changesBetween(base, theirs).map((change) => [change.key, change]));
  let merged = theirs;
  const both: Change[] = [];
  for (const { key, after } of changesBetween(base, mine)) {
    const other = there.get(key);
    if (other && !isSame(other.after, after)) both.push({ key, before: other.after, after });
    merged = withValue(merged, pathOf(key), after);
  }
  return { merged, both };
}
