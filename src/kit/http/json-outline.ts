import { refuse, type Problem } from '../problem.ts';

/** So much is read at once without holding up others. */
export const maxValues = 50_000;
const maxNesting = 1_100;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts what a JSON text will unfold to, piece by piece while it arrives: what is far too much is refused before it is
 * parsed. Knows strings from the rest, and nothing else of the grammar.
 */
export class JsonOutline {
  #values = 1;
  #nesting = 0;
  #inString = false;
  #escaped = false;

  /** Throws invalid-request as soon as there are too many values, or they are nested too deep. */
  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#inString) this.#passText(byte);
      else if (byte === quote) this.#inString = true;
      else if (byte === comma) this.#values += 1;
      else if (byte === openArray || byte === openObject) this.#open();
      else if (byte === closeArray || byte === closeObject) this.#nesting -= 1;
    }
    if (this.#values > maxValues)
      throw tooMuch(`holds more than ${maxValues} values; send less in one request`);
  }

  #passText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }

  #open(): void {
    this.#values += 1;
    this.#nesting += 1;
    if (this.#nesting > maxNesting) throw tooMuch(`is nested deeper than ${maxNesting} levels`);
  }
}

function tooMuch(detail: string): Problem {
  return refuse([{ in: 'body', name: 'body', detail }]);
}
