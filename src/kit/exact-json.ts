/** A JSON reader for texts whose numbers must not lose a digit: what a double cannot hold is kept as its own text. */

// ECMAScript's "JSON.parse source text access", in V8 since 11.4; TypeScript does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON: (this: void, text: string) => object };

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const blank = /[\t\n\r ]*/y;
// oxlint-disable-next-line no-control-regex -- JSON wants them escaped.
const control = /[\u0000-\u001f]/;
/** Deeper than any accepted body. The reader is recursive. */
const deepest = 2_000;

interface Reader {
  text: string;
  at: number;
  depth: number;
  /** Whether a number was kept as its text. */
  hasKept: boolean;
}

/**
 * The value of the text. Throws a SyntaxError where `JSON.parse` does, with its words. `noteKept` is told of a value in which a
 * number is kept as its text.
 */
export function parseExactly(text: string, noteKept?: (value: object) => void): unknown {
  const reader: Reader = { text, at: 0, depth: 0, hasKept: false };
  const value = readValue(reader);
  skipBlank(reader);
  if (reader.at !== text.length) fail(reader);
  if (reader.hasKept) noteKept?.(value as object);
  return value;
}

function fail({ text, depth }: Reader): never {
  if (depth > deepest) throw new SyntaxError(`It is nested deeper than ${deepest} levels`);
  JSON.parse(text);
  throw new SyntaxError('It cannot be read');
}

function skipBlank(reader: Reader): void {
  // Most values follow their comma or colon without white space.
  if (reader.text.charCodeAt(reader.at) > 32) return;
  blank.lastIndex = reader.at;
  blank.test(reader.text);
  reader.at = blank.lastIndex;
}

function readValue(reader: Reader): unknown {
  skipBlank(reader);
  switch (reader.text[reader.at] ?? '') {
    case '{':
      return readNested(reader, readObject);
    case '[':
      return readNested(reader, readArray);
    case '"':
      return readString(reader);
    case 't':
      return readWord(reader, 'true', true);
    case 'f':
      return readWord(reader, 'false', false);
    case 'n':
      return readWord(reader, 'null', null);
    default:
      return readNumber(reader);
  }
}

function readNested(reader: Reader, read: (reader: Reader) => unknown): unknown {
  reader.depth += 1;
  if (reader.depth > deepest) fail(reader);
  reader.at += 1;
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

function readObject(reader: Reader): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  if (tookEnd(reader, '}')) return object;
  for (;;) {
    skipBlank(reader);
    const key = readString(reader);
    skipBlank(reader);
    if (reader.text[reader.at] !== ':') fail(reader);
    reader.at += 1;
    setMember(object, key, readValue(reader));
    if (isLast(reader, '}')) return object;
  }
}

function readArray(reader: Reader): unknown[] {
  const array: unknown[] = [];
  if (tookEnd(reader, ']')) return array;
  for (;;) {
    array.push(readValue(reader));
    if (isLast(reader, ']')) return array;
  }
}

/** Assigning to `__proto__` would change what the object inherits instead. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function tookEnd(reader: Reader, end: string): boolean {
  skipBlank(reader);
  if (reader.text[reader.at] !== end) return false;
  reader.at += 1;
  return true;
}

function isLast(reader: Reader, end: string): boolean {
  if (tookEnd(reader, end)) return true;
  if (reader.text[reader.at] !== ',') fail(reader);
  reader.at += 1;
  return false;
}

function readString(reader: Reader): string {
  const { text, at } = reader;
  if (text[at] !== '"') fail(reader);
  let end = text.indexOf('"', at + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end < 0) fail(reader);
  reader.at = end + 1;
  const inner = text.slice(at + 1, end);
  if (control.test(inner)) fail(reader);
  return inner.includes('\\') ? (JSON.parse(text.slice(at, end + 1)) as string) : inner;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

function readWord<Value>(reader: Reader, word: string, value: Value): Value {
  if (!reader.text.startsWith(word, reader.at)) fail(reader);
  reader.at += word.length;
  return value;
}

function readNumber(reader: Reader): unknown {
  numberForm.lastIndex = reader.at;
  const [source] = numberForm.exec(reader.text) ?? [];
  if (source === undefined) return fail(reader);
  reader.at += source.length;
  const value = Number(source);
  if (String(value) === source) return value;
  reader.hasKept = true;
  return rawJSON(source);
}
