/**
 * JSON that `->>` and `jsonb` can open. Of a document that has the escape of a NUL or of half of a surrogate pair anywhere, PostgreSQL opens
 * nothing, though a column of `json` keeps it; former releases kept both. A whole pair that stands there as escapes is replaced, too: what
 * `JSON.stringify` wrote has none.
 */
export const openable = (json: string): string =>
  String.raw`regexp_replace(${json}::text, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'g')::json`;
