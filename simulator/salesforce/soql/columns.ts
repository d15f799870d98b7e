import { apiError } from '../errors.ts';
import type { Query, Selected } from './ast.ts';
import type { Column, Plan } from './compiled.ts';
import { resolvePath, type Scope } from './paths.ts';

import { badField } from './problems.ts';

type PlanChildren = (scope: Scope, query: Query) => { name: string; plan: Plan };

/** Turns the SELECT list into columns, parents merged, in the order they are first named. */
export function compileColumns(scope: Scope, query: Query, planChildren: PlanChildren): Column[] {
  const columns: Column[] = [];
  for (const selected of query.select) {
    if (selected.kind === 'children')
      columns.push({ kind: 'children', ...planChildren(scope, selected.query) });
    else if (selected.kind === 'fields') addAll(scope, query, selected, columns);
    else addPath(scope, selected, columns);
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

function addPath(scope: Scope, selected: Extract<Selected, { kind: 'path' }>, columns: Column[]): void {
  const { parents, field } = resolvePath(scope, selected.path);
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
  if (level.some((c) => c.kind === 'value' && c.field.name === field.name)) {
    throw badField(scope.soql, selected.path.pos, `duplicate field selected: ${field.name}`);
  }
  level.push({ kind: 'value', field });
}
