import { apiError } from '../errors.ts';
import type { Field } from '../schema/fields.ts';
import { findObject } from '../schema/object-types.ts';
import type { Row, Value } from '../store/store.ts';
import type { Expression, Path, Query, Selected, TypeOf } from './ast.ts';
import type { Column, Plan } from './compiled.ts';
import { resolveExpression } from './functions.ts';
import { resolvePath, type Scope } from './paths.ts';
import { badField, malformed, noObject, noRelationship } from './problems.ts';

type PlanChildren = (scope: Scope, query: Query) => { name: string; plan: Plan };

/** Turns the SELECT list into columns, parents merged, in the order they are first named. */
export function compileColumns(scope: Scope, query: Query, planChildren: PlanChildren): Column[] {
  const columns: Column[] = [];
  for (const selected of query.select) {
    if (selected.kind === 'children')
      columns.push({ kind: 'children', ...planChildren(scope, selected.query) });
    else if (selected.kind === 'fields') addAll(scope, query, selected, columns);
    else if (selected.kind === 'typeof') addTypeOf(scope, selected.typeOf, columns);
    else addExpression(scope, selected, columns);
  }
  return columns;
}

function addAll(
  scope: Scope,
  query: Query,
  selected: Extract<Selected, { kind: 'fields' }>,
  columns: Column[],
): void {
  if (selected.which !== 'STANDARD' && (query.limit === null || query.limit > 200)) {
    throw apiError(400, 'MALFORMED_QUERY', 'The SOQL FIELDS function must have a LIMIT of at most 200');
  }
  for (const field of scope.object.fields) {
    const fits = selected.which === 'ALL' || (selected.which === 'CUSTOM') === field.custom;
    if (fits) columns.push({ kind: 'value', field });
  }
}

function addExpression(
  scope: Scope,
  selected: Extract<Selected, { kind: 'expression' }>,
  columns: Column[],
): void {
  const { value, alias } = selected;
  if (value.kind === 'path') {
    if (alias !== null)
      throw malformed(scope.soql, value.path.pos, 'only aggregate expressions use field aliasing');
    addPath(scope, value.path, columns);
    return;
  }
  const { parents, field, get } = resolveExpression(scope, value);
  const level = alias === null ? levelOf(parents, columns) : columns;
  const name = alias ?? field.name;
  if (level.some((c) => nameOf(c) === name))
    throw badField(scope.soql, value.call.pos, `duplicate field selected: ${name}`);
  // The value of a parent's field is read from the parent's row, where its column stands.
  const inner = alias === null && parents.length > 0 ? atParent(scope, value, parents) : get;
  level.push({ kind: 'computed', name, type: field.type, read: inner });
}

function atParent(scope: Scope, value: Expression, parents: Field[]): (row: Row) => Value {
  const link = parents.at(-1);
  const object = link && findObject(scope.store.schema, link.referenceTo[0] ?? '');
  if (!object) return () => null;
  return resolveExpression({ ...scope, object, alias: null }, lastOf(value)).get;
}

/** The expression without the path to its record. */
function lastOf(value: Expression): Expression {
  if (value.kind === 'path')
    return { kind: 'path', path: { ...value.path, names: value.path.names.slice(-1) } };
  return { kind: 'call', call: { ...value.call, arg: lastOf(value.call.arg) } };
}

function nameOf(column: Column): string {
  return column.kind === 'value' ? column.field.name : column.name;
}

function addPath(scope: Scope, path: Path, columns: Column[]): void {
  const { parents, field } = resolvePath(scope, path);
  const level = levelOf(parents, columns);
  if (level.some((c) => nameOf(c) === field.name)) {
    throw badField(scope.soql, path.pos, `duplicate field selected: ${field.name}`);
  }
  level.push({ kind: 'value', field });
}

/** The columns of the parent at the end of a path, made on the way. */
function levelOf(parents: Field[], columns: Column[]): Column[] {
  let level = columns;
  for (const parent of parents) {
    const known = level.find((c) => c.kind === 'parent' && c.field === parent);
    if (known?.kind === 'parent') {
      level = known.columns;
      continue;
    }
    const added: Column = {
      kind: 'parent',
      name: parent.relationshipName ?? parent.name,
      field: parent,
      columns: [],
    };
    level.push(added);
    level = added.columns;
  }
  return level;
}

/** Columns by the type of the parent; each type that has no WHEN gets what ELSE names of it. */
function addTypeOf(scope: Scope, { relationship, whens, otherwise }: TypeOf, columns: Column[]): void {
  const [name = '', ...more] = relationship.names;
  const field = scope.object.byRelationship.get(name.toLowerCase());
  if (!field || more.length > 0) throw noRelationship(scope.soql, relationship.pos, name);
  const byType = new Map<string, Column[]>();
  const add = (type: string, paths: Path[], lenient: boolean): void => {
    const object = findObject(scope.store.schema, type);
    if (!object || byType.has(object.name)) return;
    const inner = { ...scope, object, alias: null };
    const known = lenient
      ? paths.filter((path) => object.byName.has(path.names.join('.').toLowerCase()))
      : paths;
    const level: Column[] = [];
    for (const path of known) addPath(inner, path, level);
    byType.set(object.name, level);
  };
  for (const when of whens) {
    const named = findObject(scope.store.schema, when.type);
    if (!named || !field.referenceTo.includes(named.name)) throw noObject(scope.soql, when.pos, when.type);
    add(named.name, when.paths, false);
  }
  for (const type of otherwise ? field.referenceTo : []) add(type, otherwise ?? [], true);
  columns.push({ kind: 'typeof', name: field.relationshipName ?? field.name, field, byType });
}
