import type { Queryable } from '../../kit/db/database.ts';
import { openable } from '../../kit/db/openable.ts';
import { statement } from '../../kit/db/statement.ts';
import { storable, storableJson } from '../../kit/storable.ts';
import type { LogEntry, StoredOutcome } from '../settlement.ts';
import type { Resolution } from '../schema.ts';
import type { RecordPayload, WorkItem } from '../work.ts';
import { recordHash, rememberRecords } from './parts.ts';

const lockOperation = statement(
  'operation_lock',
  `SELECT status, resource FROM operation WHERE project_id = $1 AND id = $2 FOR UPDATE`,
);

const findWritten = statement(
  'operation_written',
  `SELECT slot, payload, outcome, resolution FROM record
  WHERE project_id = $1 AND operation_id = $2 ORDER BY slot`,
);

const createdElsewhere = statement(
  'record_created_elsewhere',
  `SELECT DISTINCT r.record_id AS id FROM operation own
  JOIN written_record w ON w.project_id = own.project_id
    AND w.hash = ANY (ARRAY (SELECT svc_record_hash(id) FROM unnest($3::text[]) id))
  JOIN operation o ON o.project_id = w.project_id AND o.id = w.operation_id
    AND o.installation_id = own.installation_id AND o.resource = own.resource
  JOIN record r ON r.project_id = o.project_id AND r.operation_id = o.id AND r.record_id = ANY ($3)
    AND (o.id <> own.id OR r.slot <> ALL ($4)) AND CASE ${openable('o.request')}->>'type'
      WHEN 'create' THEN 'applied' IN (${openable('r.outcome')}->>'kind', r.resolution->>'resolution')
      WHEN 'upsert' THEN ${openable('r.outcome')}->>'created' = 'true'
      ELSE false END
  WHERE own.project_id = $1 AND own.id = $2`,
);

const resolveRecords = statement(
  'record_resolve',
  `WITH resolved AS (
    UPDATE record r SET record_id = coalesce(x.record_id, r.record_id),
      resolution = json_strip_nulls(json_build_object(
        'resolution', x.resolution, 'recordId', x.record_id, 'by', $3::text, 'at', svc_now()))
    FROM unnest($4::int[], $5::text[], $6::text[]) AS x(slot, resolution, record_id)
    WHERE r.project_id = $1 AND r.operation_id = $2 AND r.slot = x.slot AND r.resolution IS NULL
      AND ${openable('r.outcome')}->>'kind' = 'unknown'
    RETURNING r.project_id, r.operation_id, ${recordHash('r')} AS hash),
  ${rememberRecords('resolved')},
  logged AS (
    INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
    SELECT $1, $2, $7::uuid, $8::text, $9::json, svc_now()),
  unmarked AS (
    DELETE FROM operation_mark WHERE $10 AND project_id = $1 AND mark = 'unresolved' AND operation_id = $2)
  UPDATE operation SET updated_at = svc_now() WHERE project_id = $1 AND id = $2`,
);

/** One record of an operation as it was accepted, and what is known of it. */
export interface WrittenRow {
  slot: number;
  payload: RecordPayload;
  outcome: StoredOutcome | null;
  resolution: StoredResolution | null;
}

export interface StoredResolution {
  resolution: 'applied' | 'notApplied';
  recordId?: string;
  by: string;
  at: string;
}

/** Keeps others from resolving the operation until the transaction ends. */
export async function lock(
  tx: Queryable,
  projectId: string,
  operationId: string,
): Promise<{ status: string; resource: string } | undefined> {
  return (await tx.rows<{ status: string; resource: string }>(lockOperation, [projectId, operationId]))[0];
}

/**
 * Which of the provider's records are known to be made: by other operations, or for records of this one that are not in the item. What is in it may be
 * recorded all the same, by a node that took it over meanwhile.
 */
export async function findCreatedElsewhere(
  db: Queryable,
  { projectId, operationId, records }: Pick<WorkItem, 'projectId' | 'operationId' | 'records'>,
  recordIds: readonly string[],
): Promise<string[]> {
  if (recordIds.length === 0) return [];
  const slots = records.map(({ index }) => index);
  const rows = await db.rows<{ id: string }>(createdElsewhere, [projectId, operationId, recordIds, slots]);
  return rows.map(({ id }) => id);
}

/** All records of an operation, in the order of the request. */
export function written(db: Queryable, projectId: string, operationId: string): Promise<WrittenRow[]> {
  return db.rows(findWritten, [projectId, operationId]);
}

/** Keeps resolutions, and the line of the log that tells of them. `isLast`: nothing is left to be resolved. */
export async function resolve(
  tx: Queryable,
  operation: { projectId: string; operationId: string },
  by: string,
  { resolutions, isLast }: { resolutions: readonly Resolution[]; isLast: boolean },
  log: LogEntry,
): Promise<void> {
  await tx.rows(resolveRecords, [
    operation.projectId,
    operation.operationId,
    by,
    resolutions.map(({ index }) => index),
    resolutions.map(({ resolution }) => resolution),
    resolutions.map(({ recordId }) => (recordId === undefined ? null : storable(recordId))),
    log.id,
    log.severity,
    storableJson(log.message),
    isLast,
  ]);
}
