import type { Query } from './ast.ts';
import type { Token } from './lexer.ts';
import { unexpected } from './problems.ts';

/** A cursor over tokens; words and signs are matched without regard to case. */
export type Reader = {
  soql: string;
  peek: (ahead?: number) => Token;
  next: () => Token;
  /** Takes the token when it reads so. */
  accept: (text: string) => boolean;
  /** Takes all tokens when they read so one after another. */
  acceptAll: (...texts: string[]) => boolean;
  expect: (text: string) => void;
  /** Parses a whole query from here, for sub-queries. */
  query: () => Query;
};

export function createReader(soql: string, tokens: Token[], parseQuery: (reader: Reader) => Query): Reader {
  let at = 0;
  const end: Token = { kind: 'end', text: '<EOF>', value: '', pos: soql.length };
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const reads = (token: Token, text: string): boolean =>
    (token.kind === 'word' || token.kind === 'sign') && token.text.toUpperCase() === text;
  function next(): Token {
    const token = peek();
    at += 1;
    return token;
  }
  function acceptAll(...texts: string[]): boolean {
    if (!texts.every((text, i) => reads(peek(i), text))) return false;
    at += texts.length;
    return true;
  }
  function expect(text: string): void {
    const token = next();
    if (!reads(token, text)) throw unexpected(token.text);
  }
  const reader: Reader = {
    soql,
    peek,
    next,
    accept: (text) => acceptAll(text),
    acceptAll,
    expect,
    query: () => parseQuery(reader),
  };
  return reader;
}
