/** Deeper than any accepted body, and safe for recursive code. */
export const maxNesting = 1_100;
/** Fifteen digits fit a double whatever they are. */
const safeDigits = 15;

const [quote, backslash, comma, dot, minus, zero, nine] = [0x22, 0x5c, 0x2c, 0x2e, 0x2d, 0x30, 0x39];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const [capitalE, smallE] = [0x45, 0x65];

/**
 * Counts the values of a JSON text while it arrives, so that a body with far too many is never parsed. Knows strings
 * and numbers from the rest, and nothing else of the grammar.
 */
export class JsonOutline {
  readonly #maxValues: number;
  #values = 1;
  #nesting = 0;
  #inString = false;
  #escaped = false;
  #digits = 0;
  #isSigned = false;
  #mayLoseDigits = false;
  #isTooDeep = false;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  /** Whether there is a number that JavaScript might change. */
  get mayLoseDigits(): boolean {
    return this.#mayLoseDigits;
  }

  /** Answers what is too much as soon as there are too many values, or they are nested too deep. */
  add(bytes: Uint8Array): string | undefined {
    for (const byte of bytes) {
      if (this.#inString) this.#passText(byte);
      else if (byte >= zero && byte <= nine) this.#passDigit(byte);
      else this.#passOther(byte);
    }
    if (this.#isTooDeep) return `is nested deeper than ${maxNesting} levels`;
    return this.#values > this.#maxValues ? `holds more than ${this.#maxValues} values` : undefined;
  }

  #passText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }

  #passDigit(byte: number): void {
    this.#digits += 1;
    if (this.#digits > safeDigits || (this.#isSigned && byte === zero)) this.#mayLoseDigits = true;
    this.#isSigned = false;
  }

  #passOther(byte: number): void {
    if (byte === dot || ((byte === smallE || byte === capitalE) && this.#digits > 0))
      this.#mayLoseDigits = true;
    this.#digits = 0;
    this.#isSigned = byte === minus;
    if (byte === quote) this.#inString = true;
    else if (byte === comma) this.#values += 1;
    else if (byte === openArray || byte === openObject) this.#open();
    else if (byte === closeArray || byte === closeObject) this.#nesting -= 1;
  }

  #open(): void {
    this.#values += 1;
    this.#nesting += 1;
    if (this.#nesting > maxNesting) this.#isTooDeep = true;
  }
}
