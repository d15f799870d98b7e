import { malformed } from './problems.ts';

/** A piece of a query; `pos` is its offset, `text` as written, `value` a string literal without quotes. */
export type Token = {
  kind: 'word' | 'string' | 'number' | 'date' | 'datetime' | 'sign' | 'end';
  text: string;
  value: string;
  pos: number;
};

const patterns: [Token['kind'], RegExp][] = [
  ['datetime', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/iy],
  ['date', /\d{4}-\d\d-\d\d(?![\dT])/y],
  ['number', /[+-]?\d+(?:\.\d+)?(?![\w-])/y],
  ['word', /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y],
  ['sign', /<=|>=|!=|<>|[=<>(),:]/y],
];

/** Cuts a query into tokens, ending with one of kind `end`. */
export function tokenize(soql: string): Token[] {
  const tokens: Token[] = [];
  let pos = 0;
  for (;;) {
    pos = skipSpace(soql, pos);
    if (pos >= soql.length) break;
    const token = soql.charAt(pos) === "'" ? readString(soql, pos) : readPattern(soql, pos);
    tokens.push(token);
    pos += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', value: '', pos: soql.length });
  return tokens;
}

function skipSpace(soql: string, from: number): number {
  let pos = from;
  while (/\s/.test(soql.charAt(pos))) pos += 1;
  return pos;
}

function readPattern(soql: string, pos: number): Token {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = pos;
    const text = pattern.exec(soql)?.[0];
    if (text !== undefined) return { kind, text, value: text, pos };
  }
  throw malformed(soql, pos, `line 1:${pos} no viable alternative at character '${soql.charAt(pos)}'`);
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** `\%` and `\_` stay escaped: only LIKE knows what they mean. */
function readString(soql: string, pos: number): Token {
  let value = '';
  for (let i = pos + 1; i < soql.length; i += 1) {
    const c = soql.charAt(i);
    if (c === "'") return { kind: 'string', text: soql.slice(pos, i + 1), value, pos };
    if (c !== '\\') {
      value += c;
      continue;
    }
    i += 1;
    const next = soql.charAt(i);
    value += next === '%' || next === '_' ? `\\${next}` : (escapes[next] ?? next);
  }
  throw malformed(soql, soql.length, `line 1:${soql.length} mismatched character '<EOF>' expecting '''`);
}
