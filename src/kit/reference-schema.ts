import { Type, type TString } from 'typebox';

/** No white space around it and no control characters: so it can be told in a header and in a URL as well as in JSON. */
const pattern =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$';
const form = new RegExp(pattern, 'u');

/** The builder's own id of a group or a person, where it is first told. */
export function reference(description: string): TString {
  return Type.String({ minLength: 1, maxLength: 255, pattern, description });
}

export function isReference(value: unknown): value is string {
  return typeof value === 'string' && form.test(value) && value.isWellFormed();
}

/** What a text that does not fit a pattern of ours is told. */
export const patternAdvice: Readonly<Record<string, string>> = {
  [pattern]: 'must neither begin nor end with white space, nor hold control characters',
};
