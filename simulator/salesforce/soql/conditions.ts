import type { Comparison, Condition, Expression, Literal } from './ast.ts';
import { readExpression } from './expressions.ts';
import type { Token } from './lexer.ts';
import { unexpected } from './problems.ts';
import type { Reader } from './reader.ts';

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
  return parseTest(reader, readExpression(reader));
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

function parseTest(reader: Reader, left: Expression): Condition {
  if (reader.accept('IN')) return parseIn(reader, left, false);
  if (reader.acceptAll('NOT', 'IN')) return parseIn(reader, left, true);
  const word = reader.peek().text.toUpperCase();
  if (word === 'INCLUDES' || word === 'EXCLUDES') {
    reader.next();
    return { kind: 'includes', left, negated: word === 'EXCLUDES', values: parseList(reader) };
  }
  const token = reader.next();
  const operator = signs[token.text.toUpperCase()];
  if (!operator || token.kind === 'string') throw unexpected(token.text);
  return { kind: 'compare', left, operator, value: parseLiteral(reader) };
}

function parseIn(reader: Reader, left: Expression, negated: boolean): Condition {
  if (reader.peek().text === '(' && reader.peek(1).text.toUpperCase() === 'SELECT') {
    reader.next();
    const values = reader.query();
    reader.expect(')');
    return { kind: 'in', left, negated, values };
  }
  return { kind: 'in', left, negated, values: parseList(reader) };
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
  /^(TODAY|YESTERDAY|TOMORROW|(THIS|LAST|NEXT)_(WEEK|MONTH|(FISCAL_)?(QUARTER|YEAR))|LAST_90_DAYS|NEXT_90_DAYS)$/;
const units = '(DAYS|WEEKS|MONTHS|(FISCAL_)?(QUARTERS|YEARS))';
const counted = new RegExp(`^((LAST|NEXT)_N_${units}|N_${units}_AGO)$`);

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
