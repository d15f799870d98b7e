import { json, type Reply } from '../../kit/index.ts';
import { apiError } from '../errors.ts';
import { nextThingId, type Cursor, type Org } from '../org.ts';
import { parseSoql } from '../soql/parser.ts';
import type { Plan } from '../soql/compiled.ts';
import { planQuery, runPlan } from '../soql/plan.ts';
import { renderGroup, renderRow, type RenderContext } from '../soql/render.ts';
import { countRows, type Row } from '../store/store.ts';
import type { SObject } from '../schema/object-types.ts';
import { isHidden } from '../users.ts';
import { param, type ApiContext, type Handler } from './context.ts';

const maxPage = 2000;
const minPage = 200;

/** GET /query and /queryAll; `?explain=` answers a made-up plan. */
export function query(deleted: boolean): Handler {
  return (context) => {
    const explained = context.call.query.get('explain');
    const soql = explained ?? context.call.query.get('q');
    if (!soql) throw apiError(400, 'MALFORMED_QUERY', 'A query string has to be specified');
    const plan = prepare(context.org, soql, deleted, context.userId);
    if (explained !== null) return json(200, explain(plan, soql));
    const rows = runPlan(plan);
    if (plan.group) return json(200, groups(plan, rows));
    if (plan.count) return json(200, { totalSize: rows.length, done: true, records: [] });
    return json(200, page(context, { plan, rows, batch: batchSize(context), expiresAt: 0 }, null, 0));
  };
}

/** Groups are answered whole, for they have no pages. */
function groups(plan: Plan, rows: Row[]): Record<string, unknown> {
  if (rows.length > maxPage) {
    const message =
      'Aggregate query does not support queryMore(), use LIMIT to restrict the results to a single batch';
    throw apiError(400, 'EXCEEDED_ID_LIMIT', message);
  }
  const records = rows.map((row) => renderGroup(plan.columns, row));
  return { totalSize: rows.length, done: true, records };
}

/** Parses and checks a query; throws the error Salesforce gives for it. Without a user all records are seen. */
export function prepare(org: Org, soql: string, deleted: boolean, userId?: string): Plan {
  const isHiddenFrom = (object: SObject, row: Row): boolean =>
    userId !== undefined && isHidden(org, userId, object, row);
  const context = { store: org.store, soql, now: org.ground.clock.now(), deleted, isHidden: isHiddenFrom };
  return planQuery(context, parseSoql(soql));
}

/** `Sforce-Query-Options: batchSize=N` is a hint between 200 and 2,000. */
function batchSize(context: ApiContext): number {
  const hint = /batchSize\s*=\s*(\d+)/i.exec(String(context.call.headers['sforce-query-options'] ?? ''));
  return hint ? Math.min(maxPage, Math.max(minPage, Number(hint[1]))) : maxPage;
}

/** One page of a result from `from` on; opens a locator when more follows. */
function page(
  context: ApiContext,
  cursor: Cursor,
  locator: string | null,
  from: number,
): Record<string, unknown> {
  const { plan, rows, batch } = cursor;
  const render: RenderContext = {
    store: context.org.store,
    base: context.base,
    list: (inner, found) => page(context, { plan: inner, rows: found, batch, expiresAt: 0 }, null, 0),
  };
  const shown = rows.length > batch ? rows.slice(from, from + batch) : rows;
  const end = from + shown.length;
  const records = shown.map((row: Row) => renderRow(render, plan.scope.object, plan.columns, row));
  if (end >= rows.length) return { totalSize: rows.length, done: true, records };
  const id = locator ?? open(context.org, cursor);
  return {
    totalSize: rows.length,
    done: false,
    nextRecordsUrl: `${context.base}/query/${id}-${end}`,
    records,
  };
}

function open(org: Org, cursor: Cursor): string {
  const id = nextThingId(org, '01g');
  org.cursors.set(id, { ...cursor, expiresAt: org.ground.clock.now() + org.settings.queryLocatorMs });
  for (const oldest of org.cursors.keys()) {
    if (org.cursors.size <= org.settings.queryLocators) break;
    org.cursors.delete(oldest);
  }
  return id;
}

/** GET /query/{locator}-{offset} */
export function queryMore(context: ApiContext): Reply {
  const { org } = context;
  const match = /^(01g\w{15})-(\d+)$/.exec(param(context, 'locator'));
  const id = match?.[1] ?? '';
  const cursor = org.cursors.get(id);
  if (!cursor || cursor.expiresAt <= org.ground.clock.now()) {
    throw apiError(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  }
  return json(200, page(context, cursor, id, Number(match?.[2])));
}

function explain(plan: Plan, sourceQuery: string): Record<string, unknown> {
  const { object, store } = plan.scope;
  const cardinality = plan.candidates?.length ?? countRows(store, object);
  return {
    plans: [
      {
        cardinality,
        fields: [],
        leadingOperationType: plan.candidates ? 'Index' : 'TableScan',
        notes: [],
        relativeCost: plan.candidates ? 0.1 : 1.5,
        sobjectCardinality: countRows(store, object),
        sobjectType: object.name,
      },
    ],
    sourceQuery,
  };
}
