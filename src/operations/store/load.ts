import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Marked } from '../../lanes/index.ts';
import { earliestAcceptance, type OperationError, type WorkItem } from '../work.ts';

/** The payloads of an item that is larger are read apart, when there is room for them in memory. */
const largeFromBytes = 256 * 1024;

// LIMIT keeps the look-up apart, so that no plan reads all of a partition that was empty once.
const loadOperations = statement(
  'ledger_load',
  `SELECT i.n::int AS n, extract(epoch FROM svc_now() - o.created_at) * 1000 AS age_ms,
    extract(epoch FROM svc_now() - o.last_attempt_at) * 1000 AS since_ms,
    o.integration_id, o.installation_id, o.config_id, o.action_type, o.resource, o.request, o.total,
    o.succeeded, o.failed, o.unknown, o.errors, r.records, r.bytes
  FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS i(project_id, id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM operation o WHERE o.project_id = i.project_id AND o.id = i.id LIMIT 1) o
  CROSS JOIN LATERAL (
    SELECT max(r.upto) AS bytes, CASE WHEN max(r.upto) <= ${largeFromBytes} THEN
      json_agg(json_build_object('index', r.slot, 'payload', r.payload) ORDER BY r.slot) FILTER (WHERE r.upto <= ${largeFromBytes})
      END AS records
    FROM (SELECT r.slot, r.payload, sum(octet_length(r.payload::text)) OVER (ORDER BY r.slot) AS upto
      FROM record r
      WHERE r.project_id = i.project_id AND r.operation_id = i.id AND r.outcome IS NULL) r) r`,
);

const readPayloads = statement(
  'ledger_payloads',
  `SELECT slot AS index, payload FROM record
  WHERE project_id = $1 AND operation_id = $2 AND outcome IS NULL ORDER BY slot`,
);

interface LoadedRow {
  n: number;
  age_ms: string;
  /** Null before the end of the first attempt. */
  since_ms: string | null;
  integration_id: string;
  installation_id: string;
  config_id: string;
  action_type: string;
  resource: string;
  request: Record<string, unknown>;
  total: number;
  succeeded: number;
  failed: number;
  unknown: number;
  errors: OperationError[] | null;
  records: WorkItem['records'] | null;
  /** Null when no record is without an outcome. */
  bytes: string | null;
}

/** The operations of marked rows, each with its records that have no outcome yet. */
export async function load(db: Queryable, marked: readonly Marked[]): Promise<WorkItem[]> {
  const askedAt = Date.now();
  const rows = await db.rows<LoadedRow>(loadOperations, [
    marked.map(({ projectId }) => projectId),
    marked.map(({ ref }) => ref),
  ]);
  return rows.flatMap((row) => {
    const own = marked[row.n - 1];
    return own ? [itemOf(own, row, askedAt)] : [];
  });
}

/** A large item with the payloads that it came without. */
export async function withPayloads(db: Queryable, item: WorkItem): Promise<WorkItem> {
  if (item.unreadBytes === 0) return item;
  const records = await db.rows<WorkItem['records'][number]>(readPayloads, [
    item.projectId,
    item.operationId,
  ]);
  return { ...item, ...recordsAndErrors(item.tally, records, 0) };
}

function itemOf(marked: Marked, row: LoadedRow, askedAt: number): WorkItem {
  const { succeeded, failed, unknown } = row;
  const tally = { succeeded, failed, unknown, errors: row.errors ?? [] };
  return {
    ...marked,
    operationId: marked.ref,
    integrationId: row.integration_id,
    installationId: row.installation_id,
    configId: row.config_id,
    actionType: row.action_type,
    resource: row.resource,
    request: row.request,
    acceptedAt: earliestAcceptance(marked.ref, askedAt - Number(row.age_ms)),
    sinceEarlierMs: Number(row.since_ms ?? 0),
    total: row.total,
    ...recordsAndErrors(tally, row.records ?? [], row.records ? 0 : Number(row.bytes ?? 0)),
  };
}

/** Of the errors so far, those of records that are still open tell how their attempt before ended. */
function recordsAndErrors(
  tally: WorkItem['tally'],
  records: WorkItem['records'],
  unreadBytes: number,
): Pick<WorkItem, 'records' | 'tally' | 'earlier' | 'unreadBytes'> {
  const open = new Set(records.map(({ index }) => index));
  const { errors } = tally;
  return {
    records,
    tally: { ...tally, errors: errors.filter(({ index }) => !open.has(index)) },
    earlier: new Map(errors.filter(({ index }) => open.has(index)).map((error) => [error.index, error])),
    unreadBytes,
  };
}
