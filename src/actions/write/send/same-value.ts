import { isExactNumber } from '../../../kit/json.ts';

/**
 * Whether a value that was sent is the one that stands at the provider, in whatever form it is kept there: text without
 * case and outer space, numbers and booleans as text, times in another notation, choices in another order. What has parts
 * (a reference by another key) cannot be compared and counts as the same.
 */
export function sameValue(sent: unknown, standing: unknown): boolean {
  if (hasParts(sent) || hasParts(standing)) return true;
  const [one, other] = [textOf(sent), textOf(standing)];
  return one === other || sameNumber(one, other) || sameTime(one, other) || sameChoices(one, other);
}

function hasParts(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isExactNumber(value);
}

/** Null, absent and empty are one: nothing stands there. */
function textOf(value: unknown): string {
  const scalar = isExactNumber(value) ? value.rawJSON : value;
  if (!['string', 'number', 'boolean'].includes(typeof scalar)) return '';
  const text = String(scalar);
  return text.trim().replaceAll('\r\n', '\n').toLowerCase();
}

function sameNumber(one: string, other: string): boolean {
  return one !== '' && other !== '' && Number(one) === Number(other);
}

function sameTime(one: string, other: string): boolean {
  const time = timeOf(one);
  return time !== undefined && time === timeOf(other);
}

/** Milliseconds since the epoch of an ISO date or time, or of a number that is that already. */
function timeOf(text: string): number | undefined {
  const time = /^-?\d{10,}$/.test(text)
    ? Number(text)
    : /^\d{4}-\d\d-\d\d/.test(text)
      ? Date.parse(text)
      : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Several choices are joined with semicolons; a leading one adds to those that stand there. */
function sameChoices(one: string, other: string): boolean {
  if (!one.includes(';') && !other.includes(';')) return false;
  const sorted = (text: string): string =>
    text
      .split(';')
      .map((part) => part.trim())
      .filter(Boolean)
      .sort()
      .join(';');
  return sorted(one) === sorted(other);
}
