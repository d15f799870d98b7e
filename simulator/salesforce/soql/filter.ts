import { apiError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import type { Row, Value } from '../store/store.ts';
import { formatDatetime, parseDatetime } from '../store/times.ts';
import {
  placeOf,
  type Comparison,
  type Condition,
  type Expression,
  type Literal,
  type Query,
} from './ast.ts';
import { fiscalOf, resolveExpression, type Resolve } from './functions.ts';
import { spanOf } from './macros.ts';
import type { Resolved, Scope } from './paths.ts';
import { badField, malformed } from './problems.ts';

export type Test = (row: Row) => boolean;

/** Runs a sub-query of `IN (SELECT …)` and gives the values of its one column. */
type SubQuery = (scope: Scope, query: Query) => Value[];

/** How conditions read rows, or the groups of HAVING, and run the queries inside them. */
export type Reading = { scope: Scope; sub: SubQuery; resolve?: Resolve };

/** Turns a condition into a test of rows. SOQL logic has two values: a comparison with null is false. */
export function compileCondition(reading: Reading, condition: Condition): Test {
  if (condition.kind === 'and') {
    const tests = condition.items.map((item) => compileCondition(reading, item));
    return (row) => tests.every((test) => test(row));
  }
  if (condition.kind === 'or') {
    const tests = condition.items.map((item) => compileCondition(reading, item));
    return (row) => tests.some((test) => test(row));
  }
  if (condition.kind === 'not') {
    const test = compileCondition(reading, condition.item);
    return (row) => !test(row);
  }
  const resolved = filterable(reading, condition.left);
  if (condition.kind === 'in') return compileIn(reading, resolved, condition);
  if (condition.kind === 'includes') return compileIncludes(reading.scope, resolved, condition);
  return compileCompare(reading.scope, resolved, condition.operator, condition.value);
}

function filterable({ scope, resolve = resolveExpression }: Reading, left: Expression): Resolved {
  const resolved = resolve(scope, left);
  const { field } = resolved;
  if (field.type === 'address' || (field.type === 'textarea' && field.length > 255)) {
    throw badField(scope.soql, placeOf(left), `field '${field.name}' can not be filtered in a query call`);
  }
  return resolved;
}

function compileCompare(scope: Scope, resolved: Resolved, operator: Comparison, literal: Literal): Test {
  const { get, field } = resolved;
  checkLiteral(scope, field, literal);
  if (operator === 'like') return compileLike(scope, resolved, literal);
  if (literal.kind === 'macro') return compileSpan(scope, resolved, operator, literal);
  const wanted = literalValue(field, literal);
  if (wanted === null) return (row) => (get(row) === null) === (operator === '=');
  if (operator === '=') return (row) => comparable(field, get(row)) === wanted;
  if (operator === '!=') return (row) => comparable(field, get(row)) !== wanted;
  // Ids sort with regard to case, digits before capitals before small letters, as in ORDER BY.
  if (field.type === 'id' || field.type === 'reference') {
    const id = normalizeId(literal.text) ?? null;
    return (row) => ordered(get(row), operator, id);
  }
  return (row) => ordered(comparable(field, get(row)), operator, wanted);
}

function ordered(value: Value, operator: Comparison, wanted: Value): boolean {
  if (value === null || wanted === null) return false;
  if (operator === '<') return value < wanted;
  if (operator === '<=') return value <= wanted;
  return operator === '>' ? value > wanted : value >= wanted;
}

/** Text compares without regard to case, unless the field regards it. */
function comparable({ caseSensitive }: Field, value: Value): Value {
  return typeof value === 'string' && !caseSensitive ? value.toLowerCase() : value;
}

function compileSpan(scope: Scope, { get, field }: Resolved, operator: Comparison, literal: Literal): Test {
  const { start, end } = spanOf(literal.text, literal.n ?? 0, scope.now, fiscalOf(scope.store).month);
  const text = (ms: number): string =>
    field.type === 'date' ? new Date(ms).toISOString().slice(0, 10) : formatDatetime(ms);
  const [from, to] = [text(start), text(end)];
  return (row) => {
    const value = get(row);
    if (typeof value !== 'string') return operator === '!=';
    const within = value >= from && value < to;
    if (operator === '=') return within;
    if (operator === '!=') return !within;
    if (operator === '<') return value < from;
    if (operator === '<=') return value < to;
    return operator === '>' ? value >= to : value >= from;
  };
}

function compileLike(scope: Scope, { get, field }: Resolved, literal: Literal): Test {
  if (
    !quoted.has(field.type) ||
    literal.kind !== 'string' ||
    field.type === 'id' ||
    field.type === 'reference'
  ) {
    throw apiError(
      400,
      'INVALID_QUERY_FILTER_OPERATOR',
      located(scope, literal, 'invalid operator on id field'),
    );
  }
  const source = literal.text
    .replaceAll(/[.*+?^${}()|[\]]/g, '\\$&')
    .replaceAll(/\\([%_])|([%_])/g, (_all, escaped: string | undefined, wild: string | undefined) =>
      wild ? (wild === '%' ? '[^]*' : '[^]') : `${escaped}`,
    );
  const pattern = new RegExp(`^${source}$`, 'i');
  return (row) => {
    const value = get(row);
    return typeof value === 'string' && pattern.test(value);
  };
}

function located(scope: Scope, literal: Literal, message: string): string {
  return malformed(scope.soql, literal.pos, message).message;
}

function compileIn(
  { scope, sub }: Reading,
  { get, field }: Resolved,
  condition: Extract<Condition, { kind: 'in' }>,
): Test {
  const wanted = new Set<Value>();
  if (Array.isArray(condition.values)) {
    for (const literal of condition.values) {
      checkLiteral(scope, field, literal);
      wanted.add(literalValue(field, literal));
    }
  } else for (const value of sub(scope, condition.values)) wanted.add(comparable(field, value));
  return (row) => wanted.has(comparable(field, get(row))) !== condition.negated;
}

/** `INCLUDES('A;B', 'C')`: has both A and B, or has C. */
function compileIncludes(
  scope: Scope,
  { get, field }: Resolved,
  condition: Extract<Condition, { kind: 'includes' }>,
): Test {
  if (field.type !== 'multipicklist') {
    throw badField(
      scope.soql,
      placeOf(condition.left),
      `includes/excludes operator only valid on multipicklist field`,
    );
  }
  const groups = condition.values.map((literal) => literal.text.toLowerCase().split(';'));
  return (row) => {
    const chosen = new Set(
      String(get(row) ?? '')
        .toLowerCase()
        .split(';'),
    );
    return groups.some((group) => group.every((value) => chosen.has(value))) !== condition.negated;
  };
}

const quoted = new Set([
  'string',
  'textarea',
  'url',
  'email',
  'phone',
  'picklist',
  'multipicklist',
  'combobox',
  'id',
  'reference',
  'time',
]);
const numeric = new Set(['int', 'double', 'currency', 'percent']);

/** A literal must be of the field's kind: dates are never quoted, text always is. */
function checkLiteral(scope: Scope, field: Field, literal: Literal): void {
  const { kind } = literal;
  if (kind === 'null') return;
  let fits: boolean = kind === field.type;
  if (quoted.has(field.type)) fits = kind === 'string';
  else if (numeric.has(field.type)) fits = kind === 'number';
  else if (field.type === 'date' || field.type === 'datetime') fits = kind === field.type || kind === 'macro';
  if (!fits) {
    const type = field.type === 'datetime' ? 'dateTime' : quoted.has(field.type) ? 'string' : field.type;
    const quotes = quoted.has(field.type) ? 'should be' : 'should not be';
    const message = `value of filter criterion for field '${field.name}' must be of type ${type} and ${quotes} enclosed in quotes`;
    throw badField(scope.soql, literal.pos, message);
  }
  if (
    (field.type === 'id' || field.type === 'reference') &&
    literal.text !== '' &&
    !normalizeId(literal.text)
  ) {
    const message = located(scope, literal, `invalid ID field: ${literal.text}`);
    throw apiError(400, 'INVALID_QUERY_FILTER_OPERATOR', message);
  }
}

/** The stored form of a literal, lower case unless the field regards case; the empty text is null. */
function literalValue(field: Field, literal: Literal): Value {
  if (literal.kind === 'null' || literal.text === '') return null;
  if (literal.kind === 'number') return Number(literal.text);
  if (literal.kind === 'boolean') return literal.text === 'TRUE';
  if (literal.kind === 'datetime')
    return formatDatetime(parseDatetime(literal.text.toUpperCase()) ?? 0).toLowerCase();
  if (field.type === 'id' || field.type === 'reference')
    return normalizeId(literal.text)?.toLowerCase() ?? null;
  return comparable(field, literal.text.replaceAll(/\\([%_])/g, '$1'));
}
