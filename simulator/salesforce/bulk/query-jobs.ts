import { json, type Reply } from '../../kit/index.ts';
import { apiError } from '../errors.ts';
import { prepare } from '../api/query.ts';
import { objectBody, type ApiContext } from '../api/context.ts';
import type { Column, Plan } from '../soql/compiled.ts';
import { parentOf, valueOf } from '../soql/paths.ts';
import { runPlan } from '../soql/plan.ts';
import { getRow, type Row, type Store } from '../store/store.ts';
import { bulkDatetime } from '../store/times.ts';
import { asText } from '../text.ts';
import { delimiters, formatCsv } from './csv.ts';
import { abort, jobJson, jobParam, lineEndOf, newJob, wantedState } from './jobs.ts';

/** POST /jobs/query */
export function createQueryJob(context: ApiContext): Reply {
  const body = objectBody(context);
  const isAll = body['operation'] === 'queryAll';
  const plan = prepare(context.org, asText(body['query'] ?? ''), isAll, context.userId);
  checkSupported(plan);
  const job = newJob(context, 'query', body, plan.scope.object.name);
  const cells = flatten(plan.scope.store, plan.columns, '', (row) => row);
  job.columns = cells.map((cell) => cell.name);
  job.rows = runPlan(plan).map((row) => cells.map((cell) => cell.read(row)));
  return json(200, jobJson(job));
}

/** Bulk has no nested lists, compound values, counts or offsets. */
function checkSupported(plan: Plan): void {
  if (plan.count || plan.group) throw unsupported('Aggregate queries are not supported in Bulk Query');
  if (plan.offset > 0) throw unsupported('OFFSET is not supported in Bulk Query');
  for (const column of plan.columns) {
    if (column.kind === 'children') {
      throw unsupported('Aggregate Relationships not supported in Bulk Query with CSV content type');
    }
    if (column.kind === 'typeof') throw unsupported('TYPEOF is not supported in Bulk Query');
    if (column.kind === 'value' && column.field.type === 'address') {
      throw apiError(400, 'FUNCTIONALITY_NOT_ENABLED', 'Selecting compound data not supported in Bulk Query');
    }
  }
}

function unsupported(message: string): Error {
  return apiError(400, 'API_ERROR', message);
}

type Cell = { name: string; read: (row: Row) => string };

/** Columns side by side, parents as `Account.Name`. */
function flatten(
  store: Store,
  columns: Column[],
  prefix: string,
  from: (row: Row) => Row | undefined,
): Cell[] {
  return columns.flatMap((column): Cell[] => {
    if (column.kind === 'children' || column.kind === 'typeof') return [];
    if (column.kind === 'parent') {
      const parent = (row: Row): Row | undefined => {
        const at = from(row);
        const found = at ? parentOf(store, at, column.field) : undefined;
        return found ? getRow(store, found.object, String(found.row['Id'])) : undefined;
      };
      return flatten(store, column.columns, `${prefix}${column.name}.`, parent);
    }
    const type = column.kind === 'value' ? column.field.type : column.type;
    const name = column.kind === 'value' ? column.field.name : column.name;
    const read = (row: Row): string => {
      const at = from(row);
      const value = at ? (column.kind === 'value' ? valueOf(at, column.field) : column.read(at)) : null;
      if (value === null) return '';
      return type === 'datetime' ? bulkDatetime(String(value)) : String(value);
    };
    return [{ name: prefix + name, read }];
  });
}

/** GET /jobs/query/{id}/results?locator=&maxRecords= */
export function queryResults(context: ApiContext): Reply {
  const job = jobParam(context, 'query');
  if (job.state !== 'JobComplete') throw apiError(400, 'INVALIDJOBSTATE', 'The results are not ready yet');
  const { query } = context.call;
  const from = readLocator(query.get('locator'));
  const size = Number(query.get('maxRecords') ?? context.org.settings.bulkResultPage);
  if (!Number.isInteger(size) || size < 1)
    throw apiError(400, 'INVALID_INPUT', 'maxRecords must be a positive number');
  const rows = job.rows.slice(from, from + size);
  const next = from + rows.length;
  const delimiter = delimiters[job.columnDelimiter] ?? ',';
  return {
    status: 200,
    body: formatCsv([job.columns, ...rows], delimiter, lineEndOf(job)),
    headers: {
      'content-type': 'text/csv',
      'sforce-locator': next < job.rows.length ? writeLocator(next) : 'null',
      'sforce-numberofrecords': String(rows.length),
    },
  };
}

function writeLocator(offset: number): string {
  return Buffer.from(String(offset)).toString('base64url');
}

function readLocator(locator: string | null): number {
  if (!locator || locator === 'null') return 0;
  const offset = Number(Buffer.from(locator, 'base64url').toString('utf8'));
  if (Number.isInteger(offset) && offset >= 0) return offset;
  throw apiError(400, 'INVALID_LOCATOR', `invalid locator: ${locator}`);
}

/** PATCH /jobs/query/{id} `{"state":"Aborted"}` */
export function patchQueryJob(context: ApiContext): Reply {
  const job = jobParam(context, 'query');
  if (wantedState(context) !== 'Aborted')
    throw apiError(400, 'INVALIDJOBSTATE', 'A query job can only be aborted');
  abort(job);
  return json(200, jobJson(job));
}
