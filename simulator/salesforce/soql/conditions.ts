import type { Comparison, Condition, Literal, Path } from './ast.ts';
import type { Token } from './lexer.ts';
import { unexpected } from './problems.ts';
import { readPath, type Reader } from './reader.ts';

/** Parses what follows WHERE. SOQL wants parentheses where AND and OR meet. */
export function parseCondition(reader: Reader): Condition {
  const items = [parseTerm(reader)];
  let joint: 'and' | 'or' | null = null;
  for (;;) {
    const word = reader.peek().text.toUpperCase();
    if (word !== 'AND' && word !== 'OR') break;
    const next = word === 'AND' ? 'and' : 'or';
    if (joint !== null && joint !== next) throw unexpected(reader.peek().text);
    joint = next;
    reader.next();
    items.push(parseTerm(reader));
  }
  const [only] = items;
  return joint === null && only ? only : joint === 'or' ? { kind: 'or', items } : { kind: 'and', items };
}

function parseTerm(reader: Reader): Condition {
  if (reader.accept('NOT')) return { kind: 'not', item: parseTerm(reader) };
  if (reader.accept('(')) {
    const inner = parseCondition(reader);
    reader.expect(')');
    return inner;
  }
  return parseTest(reader, readPath(reader));
}

const signs: Record<string, Comparison> = {
  '=': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  LIKE: 'like',
};

function parseTest(reader: Reader, path: Path): Condition {
  if (reader.accept('IN')) return parseIn(reader, path, false);
  if (reader.acceptAll('NOT', 'IN')) return parseIn(reader, path, true);
  const word = reader.peek().text.toUpperCase();
  if (word === 'INCLUDES' || word === 'EXCLUDES') {
    reader.next();
    return { kind: 'includes', path, negated: word === 'EXCLUDES', values: parseList(reader) };
  }
  const token = reader.next();
  const operator = signs[token.text.toUpperCase()];
  if (!operator || token.kind === 'string') throw unexpected(token.text);
  return { kind: 'compare', path, operator, value: parseLiteral(reader) };
}

function parseIn(reader: Reader, path: Path, negated: boolean): Condition {
  if (reader.peek().text === '(' && reader.peek(1).text.toUpperCase() === 'SELECT') {
    reader.next();
    const values = reader.query();
    reader.expect(')');
    return { kind: 'in', path, negated, values };
  }
  return { kind: 'in', path, negated, values: parseList(reader) };
}

function parseList(reader: Reader): Literal[] {
  reader.expect('(');
  const values = [parseLiteral(reader)];
  while (reader.accept(',')) values.push(parseLiteral(reader));
  reader.expect(')');
  return values;
}

function parseLiteral(reader: Reader): Literal {
  const token = reader.next();
  if (token.kind === 'word') return parseWord(reader, token);
  if (token.kind === 'sign' || token.kind === 'end') throw unexpected(token.text);
  return { kind: token.kind, text: token.value, pos: token.pos };
}

const macros =
  /^(TODAY|YESTERDAY|TOMORROW|(THIS|LAST|NEXT)_(WEEK|MONTH|QUARTER|YEAR)|LAST_90_DAYS|NEXT_90_DAYS)$/;
const counted = /^((LAST|NEXT)_N_(DAYS|WEEKS|MONTHS|YEARS)|N_(DAYS|WEEKS|MONTHS|YEARS)_AGO)$/;

function parseWord(reader: Reader, token: Token): Literal {
  const text = token.text.toUpperCase();
  if (text === 'NULL') return { kind: 'null', text, pos: token.pos };
  if (text === 'TRUE' || text === 'FALSE') return { kind: 'boolean', text, pos: token.pos };
  if (macros.test(text)) return { kind: 'macro', text, pos: token.pos };
  if (!counted.test(text)) throw unexpected(token.text);
  reader.expect(':');
  const n = reader.next();
  if (n.kind !== 'number' || !/^\d+$/.test(n.text)) throw unexpected(n.text);
  return { kind: 'macro', text, n: Number(n.text), pos: token.pos };
}
