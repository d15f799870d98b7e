import { Type, type TString } from 'typebox';

/** No white space around it and no control characters, so that it fits a header, a URL and JSON. */
const pattern =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$';
const form = new RegExp(pattern, 'u');

/** An id that callers choose. */
export function reference(description: string): TString {
  return Type.String({ minLength: 1, maxLength: 255, pattern, description });
}

export function isReference(value: unknown): value is string {
  return typeof value === 'string' && form.test(value) && value.isWellFormed();
}

/** What an issue says when a text does not fit the pattern. */
export const patternAdvice: Readonly<Record<string, string>> = {
  [pattern]: 'must neither begin nor end with white space, nor hold control characters',
};
