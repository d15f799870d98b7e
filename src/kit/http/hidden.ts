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
  return secrets.length === 0 ? value : (hidden(value, lookupOf(secrets)) as Value);
}

function hidden(value: unknown, lookup: Lookup): unknown {
  if (typeof value === 'string') return withoutThem(value, lookup);
  if (Array.isArray(value)) return value.map((each) => hidden(each, lookup));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hidden(each, lookup)]));
}

const shownLength = 8;
/** Messages show long names cut: so much of the beginning of a secret is taken for it. */
const leastCut = 24;

/** Secrets as they are looked for at one place of a text, in about the same time however many and however long they are. */
interface Lookup {
  /** By their beginning. */
  long: Map<string, string[]>;
  /** Shorter than a beginning: only whole. */
  short: Set<string>;
  shortLengths: number[];
}

function lookupOf(secrets: readonly string[]): Lookup {
  const short = secrets.filter(({ length }) => length < leastCut);
  const long = Map.groupBy(
    secrets.filter(({ length }) => length >= leastCut),
    (secret) => secret.slice(0, leastCut),
  );
  const lengths = new Set(short.map(({ length }) => length));
  return { long, short: new Set(short), shortLengths: [...lengths].toSorted((a, b) => b - a) };
}

/** Goes on behind what it has found: a URL may hold texts that nearly repeat thousands of times. */
function withoutThem(text: string, lookup: Lookup): string {
  let [shown, from, at] = ['', 0, 0];
  while (at < text.length) {
    const length = foundAt(text, at, lookup);
    if (length > 0) shown += `${text.slice(from, at)}${text.slice(at, at + shownLength)}…`;
    at += Math.max(1, length);
    if (length > 0) from = at;
  }
  return shown + text.slice(from);
}

/** The length of what is shown of a secret at this place. */
function foundAt(text: string, at: number, { long, short, shortLengths }: Lookup): number {
  const begun = long.get(text.slice(at, at + leastCut));
  if (begun) return Math.max(...begun.map((secret) => commonLength(text, at, secret)));
  return shortLengths.find((length) => short.has(text.slice(at, at + length))) ?? 0;
}

function commonLength(text: string, at: number, secret: string): number {
  let length = leastCut;
  while (length < secret.length && text[at + length] === secret[length]) length += 1;
  return length;
}
