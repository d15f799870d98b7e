import { refuse, type Issue } from './problem.ts';

/**
 * The values that an `updateMask` names, by mask as sent. What is in the resource but not named is
 * ignored; a mask without a value, and one that no pattern allows, are refused (400). A dot or colon inside a segment is
 * escaped with `\`; `*` in a pattern stands for any one segment; the entries of arrays have no address.
 */
export function readMask(
  mask: readonly string[],
  allowedPatterns: readonly string[],
  resource: unknown,
  resourceName = '',
): Map<string, unknown> {
  const patterns = allowedPatterns.map(splitMaskPath);
  const values = new Map<string, unknown>();
  const issues: Issue[] = [];
  if (mask.length === 0) issues.push({ in: 'body', name: 'updateMask', detail: 'names nothing to change' });
  const unknown: Issue[] = [];
  for (const [index, path] of mask.entries()) {
    const segments = splitMaskPath(path);
    const name = `updateMask[${index}]`;
    if (!patterns.some((pattern) => fits(pattern, segments))) {
      unknown.push({ in: 'body', name, detail: 'is not a field that can be changed', value: path });
      continue;
    }
    const value = valueAt(resource, segments);
    if (value === undefined) {
      const where = resourceName === '' ? 'the body' : `\`${resourceName}\``;
      issues.push({ in: 'body', name, detail: `names a field that ${where} does not hold`, value: path });
    } else values.set(path, value);
  }
  if (issues.length + unknown.length === 0) return values;
  const refusal = refuse([...unknown, ...issues]);
  if (unknown.length > 0) refusal.details.remedy = `The masks allowed are ${allowedPatterns.join(', ')}.`;
  throw refusal;
}

/** The segments of a mask, unescaped: `objects.a\.b` names `a.b` in `objects`. */
export function splitMaskPath(path: string): string[] {
  const segments = [''];
  for (const [piece, escaped] of path.matchAll(/\\(.)|[^\\.]+|[.\\]/gs)) {
    if (piece === '.') segments.push('');
    else segments[segments.length - 1] += escaped ?? piece;
  }
  return segments;
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part === '*' ? segments[index] !== '' : part === segments[index]))
  );
}

/** What the segments lead to; undefined where they lead nowhere. */
export function valueAt(resource: unknown, segments: readonly string[]): unknown {
  let value = resource;
  for (const segment of segments) {
    if (
      typeof value !== 'object' ||
      value === null ||
      Array.isArray(value) ||
      !Object.hasOwn(value, segment)
    ) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}
