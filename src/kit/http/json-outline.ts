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
  #inText = false;
  #isEscaped = false;
  /** Of the number that is passed now. */
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
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#inText) at = this.#passText(bytes, at);
      else this.#pass(bytes[at] ?? 0);
    }
    if (this.#isTooDeep) return `is nested deeper than ${maxNesting} levels`;
    return this.#values > this.#maxValues ? `holds more than ${this.#maxValues} values` : undefined;
  }

  /** Up to the quote that ends the text, or to the end of the bytes. Most bytes are passed here, so the loop touches nothing else. */
  #passText(bytes: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) {
        this.#inText = false;
        this.#isEscaped = false;
        return at;
      }
    }
    this.#isEscaped = isEscaped;
    return bytes.length;
  }

  #pass(byte: number): void {
    if (byte >= zero && byte <= nine) {
      this.#digits += 1;
      if (this.#digits > safeDigits || (this.#isSigned && byte === zero)) this.#mayLoseDigits = true;
      this.#isSigned = false;
      return;
    }
    if (byte === dot || ((byte === smallE || byte === capitalE) && this.#digits > 0))
      this.#mayLoseDigits = true;
    this.#digits = 0;
    this.#isSigned = byte === minus;
    if (byte === quote) this.#inText = true;
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
