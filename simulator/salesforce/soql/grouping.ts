import { readOnlyField, type Field } from '../schema/fields.ts';
import type { Row, Value } from '../store/store.ts';
import { placeOf, type Expression, type Query } from './ast.ts';
import type { Column } from './compiled.ts';
import { aggregates, formatter, resolveExpression, type Resolve } from './functions.ts';
import type { Resolved, Scope } from './paths.ts';
import { badField, malformed } from './problems.ts';

/** A value that is computed of each group, and the key under which it is read. */
type Measure = { key: string; of: (rows: Row[]) => Value };

/** Groups rows; a group is again a row, whose columns are called after the expressions. */
export type Grouping = { columns: Column[]; resolve: Resolve; group: (rows: Row[]) => Row[] };

/** Whether a query answers groups instead of records. */
export function isGrouped(query: Query): boolean {
  if (query.groupBy.length > 0 || query.having) return true;
  return query.select.some((one) => one.kind === 'expression' && hasAggregate(one.value));
}

function hasAggregate(expression: Expression): boolean {
  if (expression.kind === 'path') return false;
  return aggregates.has(expression.call.name) || hasAggregate(expression.call.arg);
}

/** How a group's column is called, whatever the case and the spaces of the query. */
function keyOf(scope: Scope, expression: Expression): string {
  if (expression.kind === 'call') return `${expression.call.name}(${keyOf(scope, expression.call.arg)})`;
  const { parents, field } = resolveExpression(scope, expression);
  return [...parents, field].map((one) => one.name).join('.');
}

/** Plans the groups of a query; throws MALFORMED_QUERY or INVALID_FIELD for what cannot be grouped. */
export function planGrouping(scope: Scope, query: Query): Grouping {
  if (query.having && query.groupBy.length === 0)
    throw malformed(scope.soql, query.from.pos, 'HAVING needs a GROUP BY clause');
  if (query.groupBy.length === 0 && query.limit !== null)
    throw malformed(
      scope.soql,
      query.from.pos,
      'Non-grouped query that uses overall aggregate functions cannot also use LIMIT',
    );
  const keys = query.groupBy.map((one) => ({ key: keyOf(scope, one), of: groupable(scope, one) }));
  const measures: Measure[] = [];
  const resolve: Resolve = (_scope, expression) => {
    const key = keyOf(scope, expression);
    const grouped = keys.find((one) => one.key === key);
    if (grouped) return column(key, grouped.of.field);
    if (expression.kind === 'call' && expression.call.name === 'FORMAT') {
      const inner = resolve(scope, expression.call.arg);
      return { ...inner, get: formatter(inner) };
    }
    const measure = measured(scope, expression, key);
    if (!measures.some((one) => one.key === key)) measures.push(measure);
    return column(key, measure.field);
  };
  const columns = selectedColumns(scope, query, resolve);
  return { columns, resolve, group: (rows) => groupRows(rows, keys, measures) };
}

function column(key: string, field: Field): Resolved {
  return { parents: [], field, get: (row) => row[key] ?? null };
}

function selectedColumns(scope: Scope, query: Query, resolve: Resolve): Column[] {
  let unnamed = 0;
  const names = new Set<string>();
  return query.select.map((one) => {
    if (one.kind !== 'expression')
      throw malformed(scope.soql, query.from.pos, 'only fields and functions can be grouped');
    const { get, field } = resolve(scope, one.value);
    let name = one.alias ?? (one.value.kind === 'path' ? field.name : undefined);
    if (name === undefined) {
      name = `expr${unnamed}`;
      unnamed += 1;
    }
    if (names.has(name.toLowerCase()))
      throw malformed(scope.soql, placeOf(one.value), `duplicate alias: ${name}`);
    names.add(name.toLowerCase());
    return { kind: 'computed', name, read: get, type: field.type };
  });
}

const ungrouped = new Set([
  'double',
  'currency',
  'percent',
  'datetime',
  'multipicklist',
  'address',
  'textarea',
]);

function groupable(scope: Scope, expression: Expression): Resolved {
  const resolved = resolveExpression(scope, expression);
  if (!ungrouped.has(resolved.field.type)) return resolved;
  const message = `field '${resolved.field.name}' can not be grouped in a query call`;
  throw badField(scope.soql, placeOf(expression), message);
}

const numeric = new Set(['int', 'double', 'currency', 'percent']);
const long = (field: Field): boolean => field.type === 'textarea' && field.length > 255;

function measured(scope: Scope, expression: Expression, key: string): Measure & { field: Field } {
  if (expression.kind === 'path' || !aggregates.has(expression.call.name))
    throw malformed(scope.soql, placeOf(expression), `Field must be grouped or aggregated: ${key}`);
  const { name, arg, pos } = expression.call;
  const { field, get } = resolveExpression(scope, arg);
  const adds = name === 'SUM' || name === 'AVG';
  if (adds ? !numeric.has(field.type) : long(field) || field.type === 'address')
    throw badField(scope.soql, pos, `field ${field.name} does not support aggregate operator ${name}`);
  if (!adds && !name.startsWith('COUNT') && field.type === 'boolean')
    throw badField(scope.soql, pos, `field ${field.name} does not support aggregate operator ${name}`);
  const values = (rows: Row[]): Value[] => rows.map(get).filter((value) => value !== null);
  const typed = name.startsWith('COUNT') ? readOnlyField(key, 'int') : { ...field, name: key };
  return { key, field: typed, of: (rows) => aggregate(name, values(rows)) };
}

function aggregate(name: string, values: Value[]): Value {
  if (name === 'COUNT') return values.length;
  if (name === 'COUNT_DISTINCT') return new Set(values.map((value) => folded(value))).size;
  if (values.length === 0) return null;
  if (name === 'MIN' || name === 'MAX') {
    const ordered = values.toSorted((a, b) => compare(folded(a), folded(b)));
    return ordered.at(name === 'MIN' ? 0 : -1) ?? null;
  }
  const sum = values.reduce<number>((total, value) => total + Number(value), 0);
  return name === 'SUM' ? sum : sum / values.length;
}

function folded(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function compare(a: Value, b: Value): number {
  if (a === b || a === null || b === null) return 0;
  return a < b ? -1 : 1;
}

function groupRows(rows: Row[], keys: { key: string; of: Resolved }[], measures: Measure[]): Row[] {
  const groups = new Map<string, { values: Value[]; rows: Row[] }>();
  for (const row of rows) {
    const values = keys.map((one) => one.of.get(row));
    const name = JSON.stringify(values);
    const known = groups.get(name);
    if (known) known.rows.push(row);
    else groups.set(name, { values, rows: [row] });
  }
  // Without GROUP BY everything is one group, also when it is empty.
  if (keys.length === 0 && groups.size === 0) groups.set('', { values: [], rows: [] });
  return [...groups.values()].map((one) =>
    Object.fromEntries([
      ...keys.map(({ key }, i) => [key, one.values[i] ?? null]),
      ...measures.map(({ key, of }) => [key, of(one.rows)]),
    ]),
  );
}
