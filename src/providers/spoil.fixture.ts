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
