import { Type, type TString } from 'typebox';

/** No white space around it and no control characters, so that it fits a header, a URL and JSON. */
const pattern =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$';
const form = new RegExp(pattern, 'u');
const mostCharacters = 255;
const fits = new RegExp(`^.{0,${mostCharacters}}$`, 'u');

/** What no such id breaks. */
export const referenceRule = 'must neither begin nor end with white space, nor hold control characters';

/** An id that callers choose. */
export function reference(description: string): TString {
  return Type.String({ minLength: 1, maxLength: mostCharacters, pattern, description });
}

const blank = '\\u00a0\\u1680\\u2000-\\u200f\\u202f\\u205f\\u2060\\u3000\\ufeff';
const strange = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';
/**
 * Something is to be seen, and it stays on its line and among its neighbours: no control characters, ends of lines and overrides
 * of the direction in which text runs. Without a lookahead, which not every reader of the API's document knows.
 */
const nameForm = `^[ ${blank}]*[^ ${blank}${strange}][^${strange}]*$`;

const shownForm = new RegExp(nameForm);

/** What somebody or something is called, on one line. */
export function shownName(maxLength: number, description?: string): TString {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: nameForm,
    ...(description === undefined ? {} : { description }),
  });
}

export function isShownName(text: string): boolean {
  return shownForm.test(text);
}

export function isReference(value: unknown): value is string {
  return typeof value === 'string' && fits.test(value) && form.test(value) && value.isWellFormed();
}

/** Of an image, by HTTPS: neither user information nor what ends an attribute or a line. */
export const imageForm =
  '^https://(?:[A-Za-z0-9.-]+|\\[[0-9a-fA-F:.]+\\])(?::[0-9]{1,5})?(?:[/?#][^\\s"\'<>`\\\\\\u0000-\\u001f\\u007f]*)?$';

/** What an issue says when a text does not fit the pattern. */
export const patternAdvice: Readonly<Record<string, string>> = {
  [nameForm]:
    'must not be blank, and must hold no control characters, such as line breaks, or what turns the direction of text',
  [pattern]: referenceRule,
  '^[!-~]{1,255}$': 'must be 1 to 255 visible ASCII characters, without blanks',
  '^[\\x21-\\x7e]+$': 'must be visible ASCII characters, without blanks',
  '^[A-Za-z0-9-]{1,64}$': 'must be 1 to 64 letters, digits and dashes',
  '^[A-Za-z0-9_-]{1,64}$': 'must be 1 to 64 letters, digits, dashes and underscores',
  '^[0-9]{6}$': 'must be six digits',
  '^[^\\u0000]+$': 'must not hold the character U+0000',
  '^[^\\u0000-\\u001f\\u007f]*$': 'must not hold control characters',
  '^[1-5](?:\\d\\d|xx)$': 'must be a status such as 404, or a class such as 4xx',
  '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$': 'must be an email address',
  '^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$':
    'must be letters, digits and dashes, and neither begin nor end with a dash',
  '^#[0-9a-fA-F]{6}$': 'must be a colour as # and six digits from 0 to f, such as #0f62fe',
  [imageForm]: 'must be an address that begins with https://, without blanks, quotes and user information',
  '^[a-z0-9-]{1,50}$': 'must be 1 to 50 lower-case letters, digits and dashes',
  '^[A-Z0-9_]{1,50}$': 'must be 1 to 50 capital letters, digits and underscores',
  '\\S': 'must not be blank',
  '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$': 'must be `whsec_` and 24 to 64 random bytes in base64',
};

/** The same of a format. */
export const formatAdvice: Readonly<Record<string, string>> = {
  'date-time': 'must be a time with its zone, such as 2026-01-31T09:30:00Z',
  uuid: 'must be an id, such as 0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d',
};
