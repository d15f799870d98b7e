import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { currentTrace } from '../../../kit/trace.ts';
import { queued, type Marked } from '../../../lanes/index.ts';
import { beginOperations, logLines } from '../../../operations/index.ts';
import type { FeedKind } from './feeds.ts';
import { msOf, timestampOf } from './times.ts';

/** What makes a run begin: the schedule, the history of a new feed, a request, or the rhythm in which associations are compared. */
export type RunType = 'scheduled' | 'backfill' | 'triggered' | 'associations';

/** Where among the work of a connection: behind what somebody waits for, and behind writes; what goes through all records comes last. */
const priorities: Record<RunType, number> = { triggered: 2, scheduled: 2, backfill: 3, associations: 3 };

/** Runs do not expire; they end by what happens to them. */
const deadline = `(SELECT now FROM clock) + interval '10 years'`;

/**
 * Begins a run for each row of a CTE `source` with n, project_id, installation_id, object, object_name, id, type, since, until,
 * until_now, prio, trace, request_id and connection_id, in the lane of that connection; where it is NULL, in that of the installation's.
 */
const begun = `started AS MATERIALIZED (
    SELECT s.*, n.integration_id, n.config_id, coalesce(s.connection_id, n.connection_id) AS lane_id, n.group_ref,
      json_build_object('groupRef', n.group_ref, 'connectionId', coalesce(s.connection_id, n.connection_id), 'provider', i.provider, 'read', json_build_object('type', s.type,
        'since', ${msOf('s.since')}, 'until', ${msOf('s.until')}, 'pages', 0, 'processed', 0)) AS request
    FROM source s
    JOIN installation n ON n.project_id = s.project_id AND n.id = s.installation_id
    JOIN integration i ON i.project_id = n.project_id AND i.id = n.integration_id),
  runs AS (
    INSERT INTO read_run (project_id, id, installation_id, object, object_name, type, since, until, until_now, request_id)
    SELECT project_id, id, installation_id, object, object_name, type, since, until, until_now, request_id FROM started),
  ${beginOperations(
    'read',
    `SELECT project_id, id, integration_id, installation_id, config_id, request, object_name AS resource
    FROM started`,
  )},
  ${queued(
    'read',
    `SELECT n, project_id, id AS ref, lane_id, prio, (SELECT now FROM clock) AS due_at, ${deadline} AS deadline, trace FROM started`,
  )}`;

const begin = statement(
  'read_begin',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  source AS MATERIALIZED (
    SELECT 1 AS n, $1::uuid AS project_id, $2::uuid AS installation_id, $3::text AS object, $4::text AS object_name,
      $5::uuid AS id, $6::text AS type, ${timestampOf('$7::float8')} AS since, coalesce(${timestampOf('$8::float8')}, (SELECT now FROM clock)) AS until,
      $8::float8 IS NULL AS until_now, $9::smallint AS prio, $10::text AS trace, $11::text AS request_id,
      $12::uuid AS connection_id),
  ${begun}
  SELECT lane_id AS "laneId" FROM started`,
);

/** The due time of a feed as it was seen. A node that moved the feed before finds it changed, so that a tick has one run. */
const dueFeeds = statement(
  'read_due',
  `SELECT project_id AS "projectId", installation_id AS "installationId", object, kind, object_name AS "objectName", schedule,
    extract(epoch FROM next_at)::text AS seen, ${msOf('svc_now()')} AS now
  FROM read_feed WHERE next_at <= svc_now() AND next_at < 'infinity' AND paused IS NULL AND schedule IS NOT NULL
  ORDER BY next_at LIMIT $1`,
);

/** A run that still goes on is told of the tick instead of being started again. */
const fireFeeds = statement(
  'read_fire',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::float8[], $7::float8[], $8::text[])
      WITH ORDINALITY AS i(project_id, installation_id, object, seen, id, tick_ms, next_ms, kind, n)),
  locked AS MATERIALIZED (
    SELECT i.n, f.tick_at FROM input i CROSS JOIN LATERAL (
      SELECT f.tick_at FROM read_feed f
      WHERE f.project_id = i.project_id AND f.installation_id = i.installation_id AND f.object = i.object AND f.kind = i.kind
        AND extract(epoch FROM f.next_at)::text = i.seen AND f.paused IS NULL
      FOR NO KEY UPDATE SKIP LOCKED) f),
  moved AS (
    UPDATE read_feed f SET tick_at = ${timestampOf('i.tick_ms')}, next_at = coalesce(${timestampOf('i.next_ms')}, 'infinity'),
      last_run_id = CASE WHEN f.run_id IS NULL THEN i.id ELSE f.last_run_id END, run_id = coalesce(f.run_id, i.id)
    FROM input i JOIN locked l ON l.n = i.n
    WHERE f.project_id = i.project_id AND f.installation_id = i.installation_id AND f.object = i.object AND f.kind = i.kind
    RETURNING i.n, i.id AS new_id, f.project_id, f.installation_id, f.object, f.kind, f.object_name, f.run_id, f.watermark,
      f.connection_id, l.tick_at AS fired_at),
  source AS MATERIALIZED (
    SELECT n, project_id, installation_id, object, object_name, run_id AS id,
      CASE kind WHEN 'associations' THEN 'associations' ELSE 'scheduled' END AS type,
      CASE kind WHEN 'associations' THEN NULL ELSE watermark END AS since, (SELECT now FROM clock) AS until, false AS until_now,
      CASE kind WHEN 'associations' THEN ${priorities.associations} ELSE ${priorities.scheduled} END::smallint AS prio,
      NULL::text AS trace, NULL::text AS request_id, connection_id
    FROM moved WHERE run_id = new_id),
  ${begun},
  ${logLines(
    `SELECT project_id, run_id AS operation_id, new_id AS id, 'warning' AS severity, json_build_object(
      'msg', 'the tick of the schedule was left out, since this run still goes on', 'operation_id', run_id,
      'details', json_build_object('tick', coalesce(to_json(fired_at)#>>'{}', ''))) AS message
    FROM moved WHERE run_id <> new_id`,
  )}
  SELECT m.n::int, m.run_id = m.new_id AS begun, s.lane_id AS "laneId", s.group_ref AS "groupRef" FROM moved m LEFT JOIN started s ON s.n = m.n`,
);

export interface NewRun {
  projectId: string;
  installationId: string;
  objectName: string;
  id: string;
  type: RunType;
  /** Milliseconds since the epoch; missing: since ever. */
  since?: number | undefined;
  /** Missing: now. */
  until?: number | undefined;
  /** Of the request that asks for it. */
  requestId?: string | undefined;
  /** Whose account is read; missing: the one that the installation has. */
  connectionId?: string | undefined;
}

/** The lane of its connection, in which the run waits; undefined when the installation is gone. */
export async function beginRun(db: Queryable, run: NewRun): Promise<string | undefined> {
  const { projectId, installationId, objectName, id, type, since, until, requestId, connectionId } = run;
  const values = [projectId, installationId, objectName.toLowerCase(), objectName, id, type];
  const range = [since ?? null, until ?? null];
  const whence = [priorities[type], currentTrace() ?? null, requestId ?? null, connectionId ?? null];
  const [begunRow] = await db.rows<{ laneId: string }>(begin, [...values, ...range, ...whence]);
  return begunRow?.laneId;
}

/** A feed whose time has come. `now`: milliseconds since the epoch, by the database's clock. */
export interface DueFeed {
  projectId: string;
  installationId: string;
  object: string;
  kind: FeedKind;
  objectName: string;
  schedule: string;
  seen: string;
  now: number;
}

export function due(db: Queryable, limit: number): Promise<DueFeed[]> {
  return db.rows(dueFeeds, [limit]);
}

/** When a feed is due next, and the id of the run that begins unless one goes on. */
export interface Firing {
  feed: DueFeed;
  id: string;
  tickAt: number | undefined;
  nextAt: number | undefined;
}

/** Those of the feeds that no other node has fired: with the lane where a run has begun. */
export function fire(
  db: Queryable,
  firings: readonly Firing[],
): Promise<{ n: number; begun: boolean; laneId: string | null; groupRef: string | null }[]> {
  return db.rows(fireFeeds, [
    firings.map(({ feed }) => feed.projectId),
    firings.map(({ feed }) => feed.installationId),
    firings.map(({ feed }) => feed.object),
    firings.map(({ feed }) => feed.seen),
    firings.map(({ id }) => id),
    firings.map(({ tickAt }) => tickAt ?? null),
    firings.map(({ nextAt }) => nextAt ?? null),
    firings.map(({ feed }) => feed.kind),
  ]);
}

/** A run in the hands of this node. Times are milliseconds since the epoch. */
export interface Run {
  operationId: string;
  /** Of the request that asked for it. */
  requestId: string | null;
  installationId: string;
  objectName: string;
  type: RunType;
  since: number | null;
  until: number;
  /** When it was begun stands for the end of its range, since nobody gave one. */
  untilNow: boolean;
  /** Null before its first page. */
  cursor: string | null;
  /** It is at the deleted records. */
  deleted: boolean;
  page: number;
  processed: number;
  emitted: number;
  estimated: number | null;
  /** Attempts that failed since its last page, and for how long. */
  failures: number;
  failingMs: number;
  told: string[];
  /** The feed is paused. */
  isPaused: boolean;
  /** Its feed is gone, or made again with runs of its own. */
  isDropped: boolean;
  /** Of a run that begins where its feed began, by the database's clock: what that clock told when the run was loaded. */
  firstAt: number | null;
}

/** Undefined: it has ended already. */
export interface RunItem extends Marked {
  run: Run | undefined;
}

/** The run `r` that a feed `f` names. A run that somebody asked for has none. */
export const runOfFeed = `CASE r.type WHEN 'backfill' THEN f.backfill_id ELSE f.run_id END`;

/** Until it has a page, a scheduled run begins where its feed stands, which may have been moved back since. */
const isUnread = `r.type = 'scheduled' AND r.page = 0`;

// LIMIT keeps the look-ups by key apart.
const loadRuns = statement(
  'read_load',
  `SELECT i.n::int AS n, r.*, least(r.begun, CASE WHEN ${isUnread} THEN f.watermark END) AS since, f.paused IS NOT NULL AS "isPaused",
    r.type <> 'triggered' AND f.own_id IS DISTINCT FROM r."operationId" AS "isDropped",
    CASE WHEN ${isUnread} AND f.started = f.watermark THEN ${msOf('svc_now()')} END AS "firstAt"
  FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS i(project_id, id, n)
  CROSS JOIN LATERAL (
    SELECT r.project_id, r.object, r.id AS "operationId", r.request_id AS "requestId", r.installation_id AS "installationId", r.object_name AS "objectName",
      r.type, ${msOf('r.since')} AS begun, ${msOf('r.until')} AS until, r.until_now AS "untilNow", r.cursor, r.deleted, r.page, r.processed::float8,
      r.emitted::float8, r.estimated::float8, r.failures, r.told,
      coalesce(${msOf('svc_now()')} - ${msOf('r.failing_since')}, 0) AS "failingMs"
    FROM read_run r WHERE r.project_id = i.project_id AND r.id = i.id LIMIT 1) r
  LEFT JOIN LATERAL (
    SELECT f.paused, ${runOfFeed} AS own_id, ${msOf('f.started_at')} AS started, ${msOf('f.watermark')} AS watermark FROM read_feed f
    WHERE f.project_id = r.project_id AND f.installation_id = r."installationId" AND f.object = r.object
      AND f.kind = CASE r.type WHEN 'associations' THEN 'associations' ELSE 'records' END LIMIT 1) f ON true`,
);

export async function loadRunItems(db: Queryable, marked: readonly Marked[]): Promise<RunItem[]> {
  const rows = await db.rows<Run & { n: number }>(loadRuns, [
    marked.map(({ projectId }) => projectId),
    marked.map(({ ref }) => ref),
  ]);
  const byPlace = new Map(rows.map(({ n, ...run }) => [n, run]));
  return marked.map((one, at) => ({ ...one, run: byPlace.get(at + 1) }));
}
