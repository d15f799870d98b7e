/** PostgreSQL keeps no NUL in text, and no half of a surrogate pair; what comes from outside may have one. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** JSON that PostgreSQL can store and read again: it takes the escapes of both, but cannot open a document that has one. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? storable(inner) : inner,
  );
}
