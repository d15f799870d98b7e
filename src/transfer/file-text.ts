import { issueAt, malformed, notJson } from './malformed.ts';
import { refuseExcess } from './row-limits.ts';

/** A row of an opened file as it is written there, and what it is called in a refusal. */
interface FoundRow {
  kind: string;
  name: string;
  bytes: Buffer;
}

interface Expected {
  kinds: Pick<ReadonlySet<string>, 'has'>;
  mostRows: number;
}

/** A manifest and a config take a megabyte each; quotes are escaped twice here. */
const mostRowBytes = 4 * 1024 * 1024;
/** Of the row as it stands in the file, where its columns are one text. Ten former sets of secrets hold fewer. */
const mostOuterValues = 5_000;
/** Between two tokens; an export has none. */
const mostBlanks = 100_000;
const mostKindBytes = 100;

const [tab, newline, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20];
const [quote, backslash] = [0x22, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Cuts the rows out of the text of a file, `{"kind":[{…},…],…}`, one after another: a file that unfolds to a hundred
 * million bytes is never parsed as a whole. Throws export-malformed.
 */
export function* rowsIn(bytes: Buffer, { kinds, mostRows }: Expected): Generator<FoundRow> {
  const text = new FileText(bytes);
  const seen = new Set<string>();
  if (!text.has('{')) throw malformed([issueAt('', 'must be object')]);
  if (!text.has('}')) {
    do {
      const kind = text.kind();
      if (!kinds.has(kind)) throw malformed([issueAt(kind, 'is not a known property')]);
      if (seen.has(kind)) throw malformed([issueAt(kind, 'is there twice')]);
      seen.add(kind);
      yield* rowsOf(text, kind, mostRows);
    } while (text.has(','));
    text.must('}');
  }
  text.end();
}

function* rowsOf(text: FileText, kind: string, mostRows: number): Generator<FoundRow> {
  if (!text.has('[')) throw malformed([issueAt(kind, 'must be array')]);
  if (text.has(']')) return;
  let count = 0;
  do {
    if (count === mostRows) throw malformed([issueAt(kind, `must not have more than ${mostRows} rows`)]);
    const name = `${kind}[${count}]`;
    yield { kind, name, bytes: text.row(name) };
    count += 1;
  } while (text.has(','));
  text.must(']');
}

/** Reads on from where it is. What stands within a row is looked at when the row is parsed. */
class FileText {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether the next token is this one, which then is passed. */
  has(token: string): boolean {
    this.#passBlanks();
    if (this.#bytes[this.#at] !== token.charCodeAt(0)) return false;
    this.#at += 1;
    return true;
  }

  must(token: string): void {
    if (!this.has(token)) throw notJson('file');
  }

  end(): void {
    this.#passBlanks();
    if (this.#at < this.#bytes.length) throw notJson('file');
  }

  /** Names of kinds are plain: no escape is looked for. */
  kind(): string {
    this.must('"');
    const rest = this.#bytes.subarray(this.#at, this.#at + mostKindBytes);
    const length = rest.indexOf(quote);
    if (length === -1) throw notJson('file');
    this.#at += length + 1;
    this.must(':');
    return rest.toString('utf8', 0, length);
  }

  row(name: string): Buffer {
    this.#passBlanks();
    if (this.#bytes[this.#at] !== openObject) throw malformed([issueAt(name, 'must be object')]);
    const rest = this.#bytes.subarray(this.#at, this.#at + mostRowBytes);
    const length = lengthOfNested(rest);
    if (length === undefined && rest.length === mostRowBytes)
      throw malformed([issueAt(name, `is larger than ${mostRowBytes} bytes`)]);
    if (length === undefined) throw notJson('file');
    this.#at += length;
    const row = rest.subarray(0, length);
    refuseExcess(row, mostOuterValues, name);
    return row;
  }

  #passBlanks(): void {
    const most = this.#at + mostBlanks;
    while (isBlank(this.#bytes[this.#at])) {
      this.#at += 1;
      if (this.#at > most)
        throw malformed([issueAt('file', `holds more than ${mostBlanks} blanks in one place`)]);
    }
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === newline || byte === carriageReturn || byte === tab;
}

/** Up to the end of the object or list that the bytes begin with. */
function lengthOfNested(bytes: Uint8Array): number | undefined {
  let nesting = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at + 1);
    else if (byte === openObject || byte === openArray) nesting += 1;
    else if (byte === closeObject || byte === closeArray) nesting -= 1;
    if (nesting === 0) return at + 1;
  }
  return undefined;
}

/** Where the quote is that ends the text. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
