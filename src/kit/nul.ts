const mostFound = 10;

/** What is said of a text that PostgreSQL would not keep. */
export const nulDetail = 'holds the character U+0000, which cannot be kept';

/** Where the one character stands that PostgreSQL stores in no text; a key with it is told by what it is in. */
export function nulPaths(value: unknown): string[] {
  const found: string[] = [];
  const left: [value: unknown, path: string][] = [[value, '']];
  for (let next = left.pop(); next && found.length < mostFound; next = left.pop()) {
    const [one, path] = next;
    if (typeof one === 'string' && one.includes('\0')) found.push(path);
    if (typeof one !== 'object' || one === null) continue;
    const isList = Array.isArray(one);
    for (const [key, child] of Object.entries(one).toReversed()) {
      if (key.includes('\0')) found.push(path);
      left.push([child, isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`]);
    }
  }
  return [...new Set(found)];
}
