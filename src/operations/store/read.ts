import type { Reach } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { LogEntry, StoredOutcome } from '../settlement.ts';
import type { OperationError } from '../work.ts';
import type { StoredResolution, WrittenRow } from './written.ts';

/** Kept under `read` in the request of a read; times in milliseconds since the epoch. */
export interface ReadDetails {
  type: 'scheduled' | 'backfill' | 'triggered' | 'associations';
  since: number | null;
  until: number;
  pages: number;
  processed: number;
  estimated?: number;
}

export interface OperationRow {
  id: string;
  project_id: string;
  integration_id: string;
  installation_id: string;
  config_id: string;
  action_type: string;
  request: Record<string, unknown>;
  resource: string;
  status: 'in_progress' | 'success' | 'failure';
  result: string | null;
  errors: OperationError[] | null;
  attempts: number;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  total: number;
  succeeded: number;
  failed: number;
  unknown: number;
  created_at: Date;
  updated_at: Date;
  record_ids: string[] | null;
  retried_by: string | null;
  /** Of a record nobody knows what became of it, nor has said so. */
  unresolved: boolean;
}

export interface LogRow {
  id: string;
  severity: LogEntry['severity'];
  message: LogEntry['message'];
  created_at: Date;
}

export interface RecordRow {
  slot: number;
  reference: string | null;
  outcome: StoredOutcome | null;
  resolution: StoredResolution | null;
}

export const operationColumns = `o.id, o.project_id, o.integration_id, o.installation_id, o.config_id, o.action_type, o.request, o.resource, o.status,
  o.result, o.errors, o.attempts, o.last_attempt_at, o.next_attempt_at, o.total, o.succeeded, o.failed, o.unknown,
  o.created_at, o.updated_at,
  (SELECT array_agg(r.record_id ORDER BY r.slot) FROM record r
    WHERE r.project_id = o.project_id AND r.operation_id = o.id AND r.record_id IS NOT NULL) AS record_ids,
  (SELECT d.operation_id FROM idempotency d
    WHERE d.project_id = o.project_id AND d.principal = 'retry' AND d.key = o.id::text) AS retried_by,
  (o.unknown > 0 AND EXISTS (SELECT FROM operation_mark m
    WHERE m.project_id = o.project_id AND m.mark = 'unresolved' AND m.operation_id = o.id)) AS unresolved`;

/** Whose the operation `o` is, also once its installation was deleted. */
export const groupOfOperation = `coalesce(
    (SELECT n.group_ref FROM installation n WHERE n.project_id = $1 AND n.id = o.installation_id),
    (SELECT n.group_ref FROM former_installation n WHERE n.project_id = $1 AND n.id = o.installation_id))`;

/** What is unfinished is shown however old it is. */
export const isKept = `(o.id >= svc_kept_from($1, 'operations') OR o.status = 'in_progress')`;

const findOperation = statement(
  'operation_find',
  `SELECT ${operationColumns} FROM (SELECT * FROM operation o WHERE o.project_id = $1 AND o.id = $2 AND ${isKept}) o
  WHERE ($3::text IS NULL OR ${groupOfOperation} = $3)`,
);

const findOperations = statement(
  'operations_find',
  `SELECT ${operationColumns} FROM (
    SELECT * FROM operation o WHERE o.project_id = $1 AND o.id = ANY ($2::uuid[]) AND ${isKept}) o`,
);

const listOperations = statement(
  'operation_list',
  `SELECT ${operationColumns} FROM (
    SELECT * FROM operation o
    WHERE project_id = $1 AND installation_id = $2 AND id < $3 AND ${isKept}
    ORDER BY id DESC LIMIT $4) o
  ORDER BY o.id DESC`,
);

const listLogs = statement(
  'operation_logs',
  `SELECT id, severity, message, created_at FROM operation_log
  WHERE project_id = $1 AND operation_id = $2 AND ($3::uuid IS NULL OR id > $3) ORDER BY id LIMIT $4`,
);

const listRecords = statement(
  'operation_records',
  `SELECT slot, reference, outcome, resolution FROM record
  WHERE project_id = $1 AND operation_id = $2 AND slot > $3 ORDER BY slot LIMIT $4`,
);

const findRecord = statement(
  'operation_record',
  `SELECT slot, reference, payload, outcome, resolution FROM record
  WHERE project_id = $1 AND operation_id = $2 AND slot = $3`,
);

/** The operation, where it can be reached. */
export async function find(
  db: Queryable,
  { projectId, groupRef }: Reach,
  id: string,
): Promise<OperationRow | undefined> {
  return (await db.rows<OperationRow>(findOperation, [projectId, id, groupRef ?? null]))[0];
}

/** Those that are still kept, in any order. */
export function findAll(db: Queryable, projectId: string, ids: readonly string[]): Promise<OperationRow[]> {
  return db.rows(findOperations, [projectId, ids]);
}

/** Newest first, from before the given id. */
export function list(
  db: Queryable,
  projectId: string,
  installationId: string,
  beforeId: string,
  limit: number,
): Promise<OperationRow[]> {
  return db.rows(listOperations, [projectId, installationId, beforeId, limit]);
}

/** Oldest first, from behind the given id. */
export function logs(
  db: Queryable,
  projectId: string,
  operationId: string,
  afterId: string | undefined,
  limit: number,
): Promise<LogRow[]> {
  return db.rows(listLogs, [projectId, operationId, afterId ?? null, limit]);
}

export function records(
  db: Queryable,
  projectId: string,
  operationId: string,
  afterSlot: number,
  limit: number,
): Promise<RecordRow[]> {
  return db.rows(listRecords, [projectId, operationId, afterSlot, limit]);
}

export async function record(
  db: Queryable,
  projectId: string,
  operationId: string,
  slot: number,
): Promise<(RecordRow & WrittenRow) | undefined> {
  return (await db.rows<RecordRow & WrittenRow>(findRecord, [projectId, operationId, slot]))[0];
}
