import type { Queryable } from '../../kit/db/database.ts';
import { openable } from '../../kit/db/openable.ts';
import { statement } from '../../kit/db/statement.ts';
import { firstProject } from '../../lanes/index.ts';

/** Unfinished work of one kind at one provider, over all projects and nodes. */
export interface BacklogRow {
  kind: string;
  provider: string;
  /** If asked for. */
  connectionId?: string | undefined;
  /** Operations that no attempt is under way of, open auto-batches among them. */
  waiting: number;
  inFlight: number;
  /** Since the acceptance of the oldest that waits; 0 when none does. */
  oldestSeconds: number;
}

const operationOf = (row: string, id: string): string => `LATERAL (
      SELECT o.action_type, o.request, o.created_at FROM operation o
      WHERE o.project_id = ${row}.project_id AND o.id = ${row}.${id} LIMIT 1) o`;

/**
 * Reads the work table as a whole, which the sums need, by lane: the connection of a lane says what its rows are of. In the
 * lane of a node stand synchronous writes to many providers; they are few, and their operations tell. What is looked up by
 * row is kept apart (LATERAL, LIMIT), so that no plan reads the history for it. What is no operation, such as a delivery, tells
 * its age by its id.
 */
const backlogBy = (connection: (of: string) => string, limit: string): string => `
  WITH lanes AS MATERIALIZED (
    SELECT project_id, lane_id, kind, count(*) FILTER (WHERE state <> 1) AS waiting,
      count(*) FILTER (WHERE state = 1) AS in_flight, min(seq) FILTER (WHERE state <> 1) AS oldest
    FROM work WHERE project_id <> '${firstProject}' GROUP BY project_id, lane_id, kind),
  nodes AS MATERIALIZED (SELECT project_id, id FROM lane WHERE kind = 'node'),
  parts AS (
    SELECT l.kind, coalesce(c.provider, 'unknown') AS provider, c.id AS connection_id, l.waiting, l.in_flight,
      l.project_id, l.oldest
    FROM lanes l
    LEFT JOIN connection c ON c.project_id = l.project_id AND c.id = l.lane_id
    LEFT JOIN nodes n ON n.project_id = l.project_id AND n.id = l.lane_id
    WHERE n.id IS NULL
    UNION ALL
    SELECT w.kind, coalesce(r.request->>'provider', 'unknown'), (r.request->>'connectionId')::uuid,
      (w.state <> 1)::int, (w.state = 1)::int, w.project_id, CASE WHEN w.state <> 1 THEN w.seq END
    FROM nodes n CROSS JOIN LATERAL (
      SELECT * FROM work WHERE project_id = n.project_id AND lane_id = n.id OFFSET 0) w
    CROSS JOIN ${operationOf('w', 'ref')} CROSS JOIN LATERAL (SELECT ${openable('o.request')} AS request) r),
  sums AS MATERIALIZED (
    SELECT kind, provider, ${connection('connection_id')} AS connection_id, sum(waiting) AS waiting,
      sum(in_flight) AS in_flight, min(oldest) AS oldest, (array_agg(project_id ORDER BY oldest))[1] AS project_id
    FROM parts GROUP BY 1, 2, 3 ORDER BY 4 DESC ${limit}),
  queued AS (
    SELECT s.kind, s.provider, s.connection_id, s.waiting, s.in_flight, f.created_at AS oldest_at FROM sums s
    LEFT JOIN LATERAL (
      SELECT coalesce(o.created_at, svc_uuid_moment(w.ref)) AS created_at FROM (
        SELECT project_id, ref FROM work WHERE project_id = s.project_id AND seq = s.oldest LIMIT 1) w
      LEFT JOIN ${operationOf('w', 'ref')} ON true) f ON true),
  gathering AS (
    SELECT o.action_type, coalesce(c.provider, 'unknown'), ${connection('c.id')}, count(*), 0, min(o.created_at)
    FROM (SELECT * FROM ab_batch WHERE project_id <> '${firstProject}' OFFSET 0) b
    CROSS JOIN ${operationOf('b', 'id')}
    LEFT JOIN connection c ON c.project_id = b.project_id AND c.id = b.lane_id
    GROUP BY 1, 2, 3)
  SELECT kind, provider, connection_id, sum(waiting)::float8 AS waiting, sum(in_flight)::float8 AS in_flight,
    coalesce(extract(epoch FROM svc_now() - min(oldest_at)), 0)::float8 AS oldest_seconds
  FROM (SELECT * FROM queued UNION ALL SELECT * FROM gathering) every_one
  GROUP BY kind, provider, connection_id ORDER BY 4 DESC ${limit}`;

const byProvider = statement(
  'backlog_by_provider',
  backlogBy(() => 'NULL::uuid', ''),
);
const byConnection = statement(
  'backlog_by_connection',
  backlogBy((of) => of, 'LIMIT 1000'),
);

/** By connection: the thousand with most. */
export async function readBacklog(db: Queryable, by: 'provider' | 'connection'): Promise<BacklogRow[]> {
  const rows = await db.rows<{
    kind: string;
    provider: string;
    connection_id: string | null;
    waiting: number;
    in_flight: number;
    oldest_seconds: number;
  }>(by === 'connection' ? byConnection : byProvider);
  return rows.map((row) => ({
    kind: row.kind,
    provider: row.provider,
    connectionId: row.connection_id ?? undefined,
    waiting: row.waiting,
    inFlight: row.in_flight,
    oldestSeconds: row.oldest_seconds,
  }));
}

/** Of those of this database that hold back the removal of dead rows; a role sees its own sessions. */
const oldestSnapshot = statement(
  'backlog_oldest_snapshot',
  `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 AS seconds FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)`,
);

export async function oldestSnapshotSeconds(db: Queryable): Promise<number> {
  const [row] = await db.rows<{ seconds: number }>(oldestSnapshot);
  return row?.seconds ?? 0;
}

/** Open auto-batches among them, as they have no work yet. Both are few; the history is looked at by key. */
const oldestUnfinished = statement(
  'backlog_oldest_unfinished',
  `SELECT extract(epoch FROM svc_now() - o.created_at)::float8 / 86400 AS days FROM (
    SELECT project_id, ref FROM work WHERE project_id <> '${firstProject}'
    UNION ALL SELECT project_id, id FROM ab_batch WHERE project_id <> '${firstProject}' ORDER BY ref OFFSET 0) w
  CROSS JOIN ${operationOf('w', 'ref')} LIMIT 1`,
);

/** Since its acceptance, in whole days; 0 when there is none. */
export async function daysOfOldestUnfinished(db: Queryable): Promise<number> {
  const [row] = await db.rows<{ days: number }>(oldestUnfinished);
  return Math.max(0, Math.ceil(row?.days ?? 0));
}
