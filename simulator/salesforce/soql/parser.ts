import type { Expression, Ordering, Path, Query, Selected } from './ast.ts';
import { parseCondition } from './conditions.ts';
import { readExpression, readPath } from './expressions.ts';
import { createReader, type Reader } from './reader.ts';
import { malformed, unexpected } from './problems.ts';
import { tokenize } from './lexer.ts';

/** Parses a query; throws an `ApiError` MALFORMED_QUERY at what it does not understand. */
export function parseSoql(soql: string): Query {
  const reader = createReader(soql, tokenize(soql), parseQuery);
  const query = parseQuery(reader);
  const rest = reader.peek();
  if (rest.kind !== 'end') throw unexpected(rest.text);
  return query;
}

function parseQuery(reader: Reader): Query {
  reader.expect('SELECT');
  const { count, select } = parseSelect(reader);
  reader.expect('FROM');
  const from = parseFrom(reader);
  if (reader.accept('USING')) {
    reader.expect('SCOPE');
    reader.next();
  }
  const where = reader.accept('WHERE') ? parseCondition(reader) : null;
  skipAccess(reader);
  const groupBy = reader.acceptAll('GROUP', 'BY') ? parseGroups(reader) : [];
  const having = reader.accept('HAVING') ? parseCondition(reader) : null;
  const order = reader.acceptAll('ORDER', 'BY') ? parseOrder(reader) : [];
  const limit = reader.accept('LIMIT') ? readCount(reader) : null;
  const offsetPos = reader.peek().pos;
  const offset = reader.accept('OFFSET') ? readCount(reader) : null;
  skipPurpose(reader);
  return { count, select, from, where, groupBy, having, order, limit, offset, offsetPos };
}

/** Every field of the simulated org is one its users may see, so these clauses change nothing. */
function skipAccess(reader: Reader): void {
  if (!reader.accept('WITH')) return;
  const mode = reader.next();
  if (!['SECURITY_ENFORCED', 'USER_MODE', 'SYSTEM_MODE'].includes(mode.text.toUpperCase()))
    throw unexpected(mode.text);
}

function parseGroups(reader: Reader): Expression[] {
  const groups = [readExpression(reader)];
  while (reader.accept(',')) groups.push(readExpression(reader));
  return groups;
}

function skipPurpose(reader: Reader): void {
  while (reader.accept('FOR')) {
    const purpose = reader.next();
    if (!['VIEW', 'REFERENCE', 'UPDATE'].includes(purpose.text.toUpperCase())) throw unexpected(purpose.text);
  }
}

function parseSelect(reader: Reader): { count: boolean; select: Selected[] } {
  if (
    reader.peek().text.toUpperCase() === 'COUNT' &&
    reader.peek(1).text === '(' &&
    reader.peek(2).text === ')'
  ) {
    for (let i = 0; i < 3; i += 1) reader.next();
    return { count: true, select: [] };
  }
  const select = [parseSelected(reader)];
  while (reader.accept(',')) select.push(parseSelected(reader));
  return { count: false, select };
}

function parseSelected(reader: Reader): Selected {
  const token = reader.peek();
  if (reader.accept('(')) {
    const query = parseQuery(reader);
    reader.expect(')');
    return { kind: 'children', query };
  }
  const word = token.text.toUpperCase();
  if (word === 'FIELDS' && reader.peek(1).text === '(') return parseFields(reader);
  if (word === 'TYPEOF' && reader.peek(1).kind === 'word') return parseTypeOf(reader);
  const value = readExpression(reader);
  const after = reader.peek();
  const aliased = after.kind === 'word' && after.text.toUpperCase() !== 'FROM';
  return { kind: 'expression', value, alias: aliased ? reader.next().text : null };
}

function parseTypeOf(reader: Reader): Selected {
  reader.expect('TYPEOF');
  const relationship = readPath(reader);
  const whens: { type: string; pos: number; paths: Path[] }[] = [];
  while (reader.accept('WHEN')) {
    const type = reader.next();
    if (type.kind !== 'word') throw unexpected(type.text);
    reader.expect('THEN');
    whens.push({ type: type.text, pos: type.pos, paths: readPaths(reader) });
  }
  if (whens.length === 0) throw unexpected(reader.peek().text);
  const otherwise = reader.accept('ELSE') ? readPaths(reader) : null;
  reader.expect('END');
  return { kind: 'typeof', typeOf: { relationship, whens, otherwise } };
}

function readPaths(reader: Reader): Path[] {
  const paths = [readPath(reader)];
  while (reader.accept(',')) paths.push(readPath(reader));
  return paths;
}

function parseFields(reader: Reader): Selected {
  const { pos } = reader.next();
  reader.expect('(');
  const word = reader.next();
  const which = word.text.toUpperCase();
  reader.expect(')');
  if (which === 'ALL' || which === 'STANDARD' || which === 'CUSTOM') return { kind: 'fields', which, pos };
  throw malformed(reader.soql, word.pos, `Invalid FIELDS() argument: ${word.text}`);
}

const clauses = new Set(['USING', 'WHERE', 'ORDER', 'LIMIT', 'OFFSET', 'FOR', 'GROUP', 'HAVING', 'WITH']);

function parseFrom(reader: Reader): Query['from'] {
  const token = reader.next();
  if (token.kind !== 'word') throw unexpected(token.text);
  reader.accept('AS');
  const after = reader.peek();
  const aliased = after.kind === 'word' && !clauses.has(after.text.toUpperCase());
  const alias = aliased ? reader.next().text : null;
  return { name: token.text, alias, pos: token.pos };
}

function parseOrder(reader: Reader): Ordering[] {
  const order: Ordering[] = [];
  do {
    const by = readExpression(reader);
    const descending = reader.accept('DESC');
    if (!descending) reader.accept('ASC');
    let nullsLast = false;
    if (reader.accept('NULLS')) {
      nullsLast = reader.accept('LAST');
      if (!nullsLast) reader.expect('FIRST');
    }
    order.push({ by, descending, nullsLast });
  } while (reader.accept(','));
  return order;
}

function readCount(reader: Reader): number {
  const token = reader.next();
  if (token.kind !== 'number' || !/^\d+$/.test(token.text)) throw unexpected(token.text);
  return Number(token.text);
}
