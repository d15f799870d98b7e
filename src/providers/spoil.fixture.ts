/** The text with another value at a place; a text that is no JSON loses a part. */
export function spoil(text: string, path: readonly number[], value: unknown): string {
  const root: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  if (root === undefined) return text.replace(/.{0,40}$/s, JSON.stringify(value));
  let place = root as Record<string, unknown>;
  for (const step of path.slice(0, -1)) {
    const keys = Object.keys(place);
    const inner = place[keys[step % keys.length] ?? ''];
    if (typeof inner !== 'object' || inner === null) break;
    place = inner as Record<string, unknown>;
  }
  const keys = Object.keys(place);
  place[keys[(path.at(-1) ?? 0) % Math.max(1, keys.length)] ?? 'x'] = value;
  return JSON.stringify(root);
}

/** Bodies that no provider documents in place of a good one: none, HTML, cut off, another kind, or with a member of another kind. */
export function strangeBodies(good: string): string[] {
  const root = JSON.parse(good) as object;
  const kinds = [undefined, null, 'x', {}, ['x'], [{}]];
  const spoilt = Array.isArray(root)
    ? kinds.map((kind) => [kind ?? 'x'])
    : Object.keys(root).flatMap((name) => kinds.map((kind) => Object.assign({}, root, { [name]: kind })));
  const others = ['', '<html>Sign in</html>', good.slice(0, -1), 'null', '[]', '{}', '"x"', '1'];
  return [...others, ...spoilt.map((body) => JSON.stringify(body))];
}
