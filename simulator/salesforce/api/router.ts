import { createRouter, type Call, type Reply, type Router } from '../../kit/index.ts';
import { createIngestJob, ingestResults, patchIngestJob, uploadBatch } from '../bulk/ingest-jobs.ts';
import { deleteJob, listJobs, readJob } from '../bulk/jobs.ts';
import { createQueryJob, patchQueryJob, queryResults } from '../bulk/query-jobs.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { Org } from '../org.ts';
import { rollbackTo, type Transaction } from '../store/store.ts';
import { createMany, deleteMany, retrieveMany, updateMany, upsertMany } from './collections.ts';
import { batch, composite } from './composite.ts';
import { errorReply, type ApiContext, type Handler } from './context.ts';
import {
  deletedRows,
  describe,
  limits,
  objectInfo,
  objects,
  recent,
  resources,
  tabs,
  theme,
  updatedRows,
} from './metadata.ts';
import { query, queryMore } from './query.ts';
import { createRow, deleteRow, readRow, rowByKey, updateRow, upsertRow } from './rows.ts';
import { createTree } from './tree.ts';

const routes: [string, Handler][] = [
  ['GET /', resources],
  ['GET /limits', limits],
  ['GET /recent', recent],
  ['GET /tabs', tabs],
  ['GET /theme', theme],
  ['GET /sobjects', objects],
  ['GET /sobjects/:object', objectInfo],
  ['POST /sobjects/:object', createRow],
  ['GET /sobjects/:object/describe', describe],
  ['GET /sobjects/:object/deleted', deletedRows],
  ['GET /sobjects/:object/updated', updatedRows],
  ['GET /sobjects/:object/:id', readRow],
  ['PATCH /sobjects/:object/:id', updateRow],
  ['DELETE /sobjects/:object/:id', deleteRow],
  ['GET /sobjects/:object/:field/:value', rowByKey],
  ['PATCH /sobjects/:object/:field/:value', upsertRow],
  ['DELETE /sobjects/:object/:field/:value', rowByKey],
  ['GET /query', query(false)],
  ['GET /queryAll', query(true)],
  ['GET /query/:locator', queryMore],
  ['GET /queryAll/:locator', queryMore],
  ['POST /composite', composite],
  ['POST /composite/batch', batch],
  ['POST /composite/tree/:object', createTree],
  ['POST /composite/sobjects', createMany],
  ['PATCH /composite/sobjects', updateMany],
  ['DELETE /composite/sobjects', deleteMany],
  ['GET /composite/sobjects/:object', retrieveMany],
  ['POST /composite/sobjects/:object', retrieveMany],
  ['PATCH /composite/sobjects/:object/:field', upsertMany],
  ['GET /jobs/query', listJobs('query')],
  ['POST /jobs/query', createQueryJob],
  ['GET /jobs/query/:id', readJob('query')],
  ['PATCH /jobs/query/:id', patchQueryJob],
  ['DELETE /jobs/query/:id', deleteJob('query')],
  ['GET /jobs/query/:id/results', queryResults],
  ['GET /jobs/ingest', listJobs('ingest')],
  ['POST /jobs/ingest', createIngestJob],
  ['GET /jobs/ingest/:id', readJob('ingest')],
  ['PATCH /jobs/ingest/:id', patchIngestJob],
  ['DELETE /jobs/ingest/:id', deleteJob('ingest')],
  ['PUT /jobs/ingest/:id/batches', uploadBatch],
  ['GET /jobs/ingest/:id/successfulResults', ingestResults('successful')],
  ['GET /jobs/ingest/:id/failedResults', ingestResults('failed')],
  ['GET /jobs/ingest/:id/unprocessedrecords', ingestResults('unprocessed')],
];

const router = buildRouter();

function buildRouter(): Router<Handler> {
  const built = createRouter<Handler>();
  for (const [line, handler] of routes) {
    const [method = '', path = ''] = line.split(' ');
    built.add(method, `/services/data/:version${path}`, handler);
  }
  return built;
}

/** The user of a call, and its transaction. */
type Caller = { org: Org; userId: string; tx: Transaction };

/** Answers one data call; errors become their HTTP form and leave no trace in the transaction. */
export function dispatch(caller: Caller, call: Call): Reply {
  const mark = { undo: caller.tx.undo.length, changes: caller.tx.changes.length };
  try {
    return route(caller, call);
  } catch (error) {
    rollbackTo(caller.tx, mark);
    if (error instanceof ApiError) return errorReply(error);
    throw error;
  }
}

/** A path may end in the format of its answer; one that ends as a file to include is not served. */
function withoutFormat(path: string): string {
  if (/\.inc$/i.test(path)) throw notFound();
  return path.replace(/\.(?:json|xml)$/i, '');
}

function route(caller: Caller, call: Call): Reply {
  const override = call.query.get('_HttpMethod');
  const method = override && call.method === 'POST' ? override.toUpperCase() : call.method;
  const match = router.match(method, withoutFormat(call.path));
  if (!match) throw notFound();
  if (!match.found) {
    const message = `HTTP Method '${method}' not allowed. Allowed are ${match.allowed.join(',')}`;
    throw apiError(405, 'METHOD_NOT_ALLOWED', message);
  }
  const version = /^v(\d{1,3})\.0$/.exec(match.params['version'] ?? '');
  if (!version) throw notFound();
  const context: ApiContext = {
    ...caller,
    call: { ...call, method, params: match.params },
    base: `/services/data/v${version[1]}.0`,
    version: Number(version[1]),
    dispatch: (inner) => dispatch(caller, inner),
  };
  return match.value(context);
}
