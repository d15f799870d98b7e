const remembered = 10_000;

/** Sets an entry of a map that must not grow for ever: the oldest is forgotten first. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > remembered && oldest !== undefined) map.delete(oldest);
}
