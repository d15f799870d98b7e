import { isId } from '../ids.ts';

const keyForm = /svc(?:_|%5f)/i;

/** What may be a secret put into a URL by mistake: a key of ours, or a long text of mixed characters; page tokens are none. */
function secretsIn(url: string): string[] {
  const [path = '', query = ''] = url.split(/[?#]/, 2);
  const values = query.split('&').filter((pair) => !pair.startsWith('pageToken='));
  const parts = [...path.split(/[/:]/), ...values.flatMap((pair) => pair.split('='))];
  const secret = parts.filter((part) => looksKey(readable(part)) || looksRandom(readable(part)));
  return [...new Set(secret.concat(secret.map(readable)))];
}

function looksKey(text: string): boolean {
  return keyForm.test(text) && text.length > 12;
}

function looksRandom(text: string): boolean {
  if (text.length < 30 || isId(text) || !/\d/.test(text)) return false;
  return /^[\da-f]+$/i.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text));
}

function readable(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The same value with the secrets of the URL taken out of its texts, also where only their beginning is shown. */
export function withoutSecretsOf<Value>(value: Value, url: string): Value {
  const secrets = secretsIn(url);
  return secrets.length === 0 ? value : (hidden(value, secrets) as Value);
}

function hidden(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return secrets.reduce(withoutOne, value);
  if (Array.isArray(value)) return value.map((each) => hidden(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hidden(each, secrets)]));
}

const shownLength = 8;
const leastCut = 24;

function withoutOne(text: string, secret: string): string {
  const mark = `${secret.slice(0, shownLength)}…`;
  const whole = text.replaceAll(secret, mark);
  // Messages show long names cut.
  for (let length = secret.length - 1; length >= leastCut; length -= 1) {
    const cut = secret.slice(0, length);
    if (whole.includes(cut)) return whole.replaceAll(cut, mark);
  }
  return whole;
}
