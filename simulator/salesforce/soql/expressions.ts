import type { Expression, Path } from './ast.ts';
import { unexpected } from './problems.ts';
import type { Reader } from './reader.ts';

const reserved = new Set([
  'SELECT',
  'FROM',
  'WHERE',
  'AND',
  'OR',
  'NOT',
  'ORDER',
  'GROUP',
  'HAVING',
  'LIMIT',
  'LIKE',
  'IN',
  'NULL',
]);

/** Takes a field path such as `Account.Owner.Name`. */
export function readPath(reader: Reader): Path {
  const token = reader.next();
  if (token.kind !== 'word' || reserved.has(token.text.toUpperCase())) throw unexpected(token.text);
  return { names: token.text.split('.'), pos: token.pos };
}

/** Takes a path, or a function of one such as `MAX(Amount)` or `DAY_ONLY(convertTimezone(CreatedDate))`. */
export function readExpression(reader: Reader): Expression {
  const word = reader.peek();
  if (word.kind !== 'word' || reader.peek(1).text !== '(' || word.text.includes('.'))
    return { kind: 'path', path: readPath(reader) };
  reader.next();
  reader.expect('(');
  const arg = readExpression(reader);
  const end = reader.peek();
  reader.expect(')');
  const text = reader.soql.slice(word.pos, end.pos + 1);
  return { kind: 'call', call: { name: word.text.toUpperCase(), arg, text, pos: word.pos } };
}
