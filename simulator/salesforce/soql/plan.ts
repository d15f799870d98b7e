import { apiError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import { childRelationships, findObject } from '../schema/object-types.ts';
import { getRow, inBin, isDeleted, lookup, scan, type Row, type Value } from '../store/store.ts';
import type { Condition, Query } from './ast.ts';
import { compileColumns } from './columns.ts';
import type { Plan } from './compiled.ts';
import { compileCondition } from './filter.ts';
import { isGrouped, planGrouping } from './grouping.ts';
import { compileOrder } from './order.ts';
import { resolvePath, type Scope } from './paths.ts';
import { malformed, noChildren, noObject } from './problems.ts';

/** Where queries are read: all of a scope but the object the query itself names. */
type QueryContext = Pick<Scope, 'store' | 'soql' | 'now' | 'deleted' | 'isHidden'>;

/** Checks a parsed query against the schema; throws INVALID_TYPE, INVALID_FIELD or MALFORMED_QUERY. */
export function planQuery(context: QueryContext, query: Query): Plan {
  const object = findObject(context.store.schema, query.from.name);
  if (!object) throw noObject(context.soql, query.from.pos, query.from.name);
  return planIn({ ...context, object, alias: query.from.alias }, query, null);
}

function planIn(scope: Scope, query: Query, link: Field | null): Plan {
  if ((query.offset ?? 0) > 2000) {
    throw apiError(400, 'NUMBER_OUTSIDE_VALID_RANGE', 'Maximum SOQL offset allowed is 2000');
  }
  const reading = { scope, sub: runSubQuery };
  const plan = {
    scope,
    count: query.count,
    test: query.where ? compileCondition(reading, query.where) : () => true,
    limit: query.limit ?? Number.POSITIVE_INFINITY,
    offset: query.offset ?? 0,
    candidates: query.where ? candidates(scope, query.where) : undefined,
    link,
  };
  if (!isGrouped(query)) {
    const columns = compileColumns(scope, query, planChildren);
    return { ...plan, columns, group: null, compare: compileOrder(scope, query.order) };
  }
  if (link) throw malformed(scope.soql, query.from.pos, 'aggregate functions are not allowed in a subquery');
  const { columns, resolve, group } = planGrouping(scope, query);
  const having = query.having ? compileCondition({ ...reading, resolve }, query.having) : () => true;
  const compare = compileOrder(scope, query.order, resolve);
  return { ...plan, columns, compare, group: (rows) => group(rows).filter(having) };
}

/** Plans `(SELECT … FROM Contacts)`; also gives the canonical name of the list. */
function planChildren(scope: Scope, query: Query): { name: string; plan: Plan } {
  const wanted = query.from.name.toLowerCase();
  const known = childRelationships(scope.store.schema, scope.object);
  const found = known.find((c) => c.name?.toLowerCase() === wanted);
  if (!found?.name) throw noChildren(scope.soql, query.from.pos, query.from.name);
  const inner = { ...scope, object: found.child, alias: query.from.alias };
  return { name: found.name, plan: planIn(inner, query, found.field) };
}

function runSubQuery(scope: Scope, query: Query): Value[] {
  const plan = planQuery(scope, query);
  const [column] = plan.columns;
  if (plan.columns.length !== 1 || column?.kind !== 'value') {
    throw apiError(400, 'MALFORMED_QUERY', 'inner select must have exactly one field');
  }
  return runPlan(plan).map((row) => row[column.field.name] ?? null);
}

/** The rows of a plan in order; `parentId` limits a plan of children to one parent. */
export function runPlan(plan: Plan, parentId?: string): Row[] {
  const matched: Row[] = [];
  const enough = plan.compare || plan.group ? Number.POSITIVE_INFINITY : plan.limit + plan.offset;
  for (const row of source(plan, parentId)) {
    if (matched.length >= enough) break;
    if (plan.test(row) && !plan.scope.isHidden(plan.scope.object, row)) matched.push(row);
  }
  const rows = plan.group ? plan.group(matched) : matched;
  if (plan.compare) rows.sort(plan.compare);
  return plan.offset > 0 || rows.length > plan.limit
    ? rows.slice(plan.offset, plan.offset + plan.limit)
    : rows;
}

function source(plan: Plan, parentId: string | undefined): Iterable<Row> {
  const { store, object, deleted, now } = plan.scope;
  if (plan.link && parentId) return pick(plan, lookup(store, object, plan.link, parentId));
  return plan.candidates ? pick(plan, plan.candidates) : scan(store, object, deleted, now);
}

function pick(plan: Plan, ids: string[]): Row[] {
  const { store, object, deleted, now } = plan.scope;
  return [...new Set(ids)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((id) => getRow(store, object, id))
    .filter((row) => row !== undefined)
    .filter((row) => !isDeleted(row) || (deleted && inBin(store, object, String(row['Id']), now)));
}

/** Looks for an id, external id or lookup that must have one of a few values, to spare the scan. */
function candidates(scope: Scope, condition: Condition): string[] | undefined {
  if (condition.kind === 'and') {
    for (const item of condition.items) {
      const found = candidates(scope, item);
      if (found) return found;
    }
    return undefined;
  }
  if (condition.kind !== 'compare' && condition.kind !== 'in') return undefined;
  const texts = equalTo(condition);
  if (!texts || condition.left.kind !== 'path') return undefined;
  const { parents, field } = resolvePath(scope, condition.left.path);
  if (parents.length > 0) return undefined;
  if (field.type === 'id') return texts.map((text) => normalizeId(text) ?? '');
  if (scope.deleted || !(field.idLookup || field.type === 'reference')) return undefined;
  const value = (text: string): string => (field.type === 'reference' ? (normalizeId(text) ?? '') : text);
  return texts.flatMap((text) => lookup(scope.store, scope.object, field, value(text)));
}

function equalTo(condition: Extract<Condition, { kind: 'compare' | 'in' }>): string[] | undefined {
  const values = condition.kind === 'in' ? condition.values : [condition.value];
  const positive = condition.kind === 'in' ? !condition.negated : condition.operator === '=';
  if (!positive || !Array.isArray(values)) return undefined;
  const plain = values.every((v) => v.kind === 'string' && v.text !== '' && !v.text.includes('\\'));
  return plain ? values.map((v) => v.text) : undefined;
}
