/** PostgreSQL keeps no NUL in text; what a caller or a provider sent may have one. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** JSON that PostgreSQL can store and read again: it takes the escape of a NUL, but cannot open a document that has one. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? storable(inner) : inner,
  );
}
