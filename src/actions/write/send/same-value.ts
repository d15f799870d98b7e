import { isExactNumber } from '../../../kit/json.ts';
import type { ObjectDescription } from '../../../providers/index.ts';

/** How a provider keeps what is written into a field. */
export interface KeptAs {
  valueType?: ObjectDescription['fields'][string]['valueType'] | undefined;
  canonicalId?: ((id: string) => string) | undefined;
}

/**
 * Whether a value that was sent is the one that stands at the provider, in whatever form it is kept there: text without
 * case and outer space, numbers and booleans as text, times in another notation, choices in another order; and, in a field of that type,
 * an id in another form, a time in whole seconds, a day, a rounded number. What has parts (a reference by another key) cannot be compared
 * and counts as the same.
 */
export function sameValue(
  sent: unknown,
  standing: unknown,
  { valueType, canonicalId }: KeptAs = {},
): boolean {
  if (hasParts(sent) || hasParts(standing)) return true;
  const [one, other] = [textOf(sent), textOf(standing)];
  if (one === other || sameNumber(one, other) || sameTime(one, other) || sameChoices(one, other)) return true;
  if (valueType === 'reference' && canonicalId)
    return canonicalId(String(sent).trim()) === canonicalId(String(standing).trim());
  if (valueType === 'datetime') return sameSecond(one, other);
  if (valueType === 'date') return isDay(other) && one.slice(0, other.length) === other;
  return valueType === 'float' && isRoundedTo(one, other);
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

/** A time that stands without a fraction may have had one. */
function sameSecond(sent: string, standing: string): boolean {
  const [one = NaN, other = NaN] = [timeOf(sent), timeOf(standing)];
  return other % 1_000 === 0 && Math.floor(one / 1_000) * 1_000 === other;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/** Whether a number stands as it was sent but for digits that the field does not hold. */
function isRoundedTo(sent: string, standing: string): boolean {
  const number = /^-?\d+(?:\.(\d+))?$/.exec(standing);
  if (!number || sent === '') return false;
  // A little more than half a digit: what is sent is no exact binary number.
  return Math.abs(Number(sent) - Number(standing)) <= 0.500_001 * 10 ** -(number[1] ?? '').length;
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
