import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { msOf, timestampOf } from './times.ts';

export type Pause = 'object' | 'installation' | 'failures' | 'removed';

const takeStale = statement(
  'read_stale_take',
  `DELETE FROM read_stale WHERE id = ANY (ARRAY (SELECT id FROM read_stale ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING project_id AS "projectId", installation_id AS "installationId"`,
);

/** Installations whose feeds are to be looked at; in the transaction that looks. */
export async function takeStaleInstallations(
  tx: Queryable,
  limit: number,
): Promise<{ projectId: string; installationId: string }[]> {
  const rows = await tx.rows<{ projectId: string; installationId: string }>(takeStale, [limit]);
  return [...new Map(rows.map((row) => [row.installationId, row])).values()];
}

const takeStaleOne = statement(
  'read_stale_take_one',
  `DELETE FROM read_stale WHERE project_id = $1 AND installation_id = $2 RETURNING id`,
);

/** Whether the feeds of the installation are to be looked at; in the transaction that looks. */
export async function takeStaleInstallation(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
): Promise<boolean> {
  return (await tx.rows(takeStaleOne, [projectId, installationId])).length > 0;
}

/** A feed as config and manifest want it. Times are milliseconds since the epoch. */
export interface WantedFeed {
  objectName: string;
  /** Missing: it is not read by a schedule. */
  schedule: string | undefined;
  nextRun: { tickAt: number; dueAt: number } | undefined;
  /** No longer declared: it rests. */
  removed: boolean;
}

const databaseTime = statement('read_time', `SELECT ${msOf('svc_now()')} AS now`);

/** Milliseconds since the epoch, by the database's clock. */
export async function timeOf(db: Queryable): Promise<number> {
  const [row] = await db.rows<{ now: number }>(databaseTime);
  return row?.now ?? Date.now();
}

/**
 * An object that comes to a paused installation is paused with it. A schedule that stays the same keeps its next time. What
 * was paused as removed goes on when it is declared again.
 */
const upsertFeeds = statement(
  'read_feeds_upsert',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  wanted AS (
    SELECT i.object_name, i.schedule, i.removed, ${timestampOf('i.tick_ms')} AS tick_at,
      coalesce(${timestampOf('i.due_ms')}, 'infinity') AS next_at, lower(i.object_name) AS object
    FROM unnest($3::text[], $4::text[], $5::float8[], $6::float8[], $7::boolean[]) AS i(object_name, schedule, tick_ms, due_ms, removed)),
  resting AS (
    SELECT EXISTS (SELECT FROM read_feed WHERE project_id = $1 AND installation_id = $2 AND paused = 'installation') AS is)
  INSERT INTO read_feed AS f (project_id, installation_id, object, object_name, schedule, tick_at, next_at, started_at, watermark,
    paused, paused_at)
  SELECT $1, $2, w.object, w.object_name, w.schedule, w.tick_at, w.next_at,
    now, now, CASE WHEN w.removed THEN 'removed' WHEN r.is THEN 'installation' END, CASE WHEN w.removed OR r.is THEN now END
  FROM wanted w, resting r, clock ORDER BY w.object
  ON CONFLICT (project_id, installation_id, object) DO UPDATE SET
    object_name = excluded.object_name, schedule = excluded.schedule,
    paused = CASE WHEN excluded.paused = 'removed' THEN coalesce(f.paused, 'removed')
      WHEN f.paused = 'removed' THEN NULL ELSE f.paused END,
    paused_at = CASE WHEN excluded.paused = 'removed' THEN coalesce(f.paused_at, excluded.paused_at)
      WHEN f.paused = 'removed' THEN NULL ELSE f.paused_at END,
    tick_at = CASE WHEN f.schedule IS NOT DISTINCT FROM excluded.schedule THEN coalesce(f.tick_at, excluded.tick_at)
      ELSE excluded.tick_at END,
    next_at = CASE WHEN f.schedule IS NOT DISTINCT FROM excluded.schedule THEN f.next_at ELSE excluded.next_at END
  RETURNING object_name AS "objectName", ${msOf('started_at')} AS "startedAt", xmax = 0 AS "isNew"`,
);

/** Answers with the feeds, and which of them are new. */
export function upsert(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  feeds: readonly WantedFeed[],
): Promise<{ objectName: string; startedAt: number; isNew: boolean }[]> {
  return tx.rows(upsertFeeds, [
    projectId,
    installationId,
    feeds.map(({ objectName }) => objectName),
    feeds.map(({ schedule }) => schedule ?? null),
    feeds.map(({ nextRun }) => nextRun?.tickAt ?? null),
    feeds.map(({ nextRun }) => nextRun?.dueAt ?? null),
    feeds.map(({ removed }) => removed),
  ]);
}

const dropOthers = statement(
  'read_feeds_drop',
  `WITH dropped AS (
    DELETE FROM read_feed WHERE project_id = $1 AND installation_id = $2 AND object <> ALL ($3::text[])
    RETURNING project_id, installation_id, object)
  DELETE FROM read_seen s USING dropped d
  WHERE s.project_id = d.project_id AND s.installation_id = d.installation_id AND s.object = d.object`,
);

interface FeedPlace {
  projectId: string;
  installationId: string;
}

/** Forgets the feeds of all other objects. */
export async function keepOnly(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  objectNames: readonly string[],
): Promise<void> {
  await tx.rows(dropOthers, [projectId, installationId, objectNames.map((name) => name.toLowerCase())]);
}

const setBackfill = statement(
  'read_feed_backfill',
  `UPDATE read_feed SET backfill_id = $4 WHERE project_id = $1 AND installation_id = $2 AND object = $3`,
);

export async function noteBackfill(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  objectName: string,
  operationId: string,
): Promise<void> {
  await tx.rows(setBackfill, [projectId, installationId, objectName.toLowerCase(), operationId]);
}

/** A feed as it stands. */
export interface FeedRow {
  object: string;
  objectName: string;
  schedule: string | null;
  /** Missing while nothing is due. */
  nextAt: Date | null;
  watermark: Date;
  paused: Pause | null;
  pausedAt: Date | null;
  note: string | null;
  failures: number;
  lastRunId: string | null;
  backfillId: string | null;
}

const listFeeds = statement(
  'read_feeds_list',
  `SELECT object, object_name AS "objectName", schedule,
    CASE WHEN next_at < 'infinity' AND paused IS NULL THEN next_at END AS "nextAt", watermark, paused, paused_at AS "pausedAt", note, failures,
    last_run_id AS "lastRunId", backfill_id AS "backfillId"
  FROM read_feed WHERE project_id = $1 AND installation_id = $2 ORDER BY object`,
);

export function list(db: Queryable, projectId: string, installationId: string): Promise<FeedRow[]> {
  return db.rows(listFeeds, [projectId, installationId]);
}

const pauseFeeds = statement(
  'read_feeds_pause',
  `UPDATE read_feed SET paused = $4, paused_at = svc_now(), note = $5
  WHERE project_id = $1 AND installation_id = $2 AND object = ANY ($3::text[]) AND (paused IS NULL OR paused = 'failures')
  RETURNING object`,
);

/** Answers with those that were not paused before. */
export async function pause(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  objects: readonly string[],
  { as, note }: { as: 'object' | 'installation'; note: string | undefined },
): Promise<string[]> {
  const values = [projectId, installationId, objects, as, note ?? null];
  return (await tx.rows<{ object: string }>(pauseFeeds, values)).map(({ object }) => object);
}

const unpauseFeeds = statement(
  'read_feeds_unpause',
  `UPDATE read_feed f SET paused = NULL, paused_at = NULL, note = $6, failures = 0,
    next_at = coalesce(${timestampOf('i.due_ms')}, 'infinity'), tick_at = ${timestampOf('i.tick_ms')}
  FROM unnest($3::text[], $4::float8[], $5::float8[]) AS i(object, tick_ms, due_ms)
  WHERE f.project_id = $1 AND f.installation_id = $2 AND f.object = i.object AND f.paused <> 'removed'
  RETURNING f.object`,
);

/** Answers with those that were paused. */
export async function unpause(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  feeds: readonly { object: string; nextRun: WantedFeed['nextRun'] }[],
  note: string | undefined,
): Promise<string[]> {
  const rows = await tx.rows<{ object: string }>(unpauseFeeds, [
    projectId,
    installationId,
    feeds.map(({ object }) => object),
    feeds.map(({ nextRun }) => nextRun?.tickAt ?? null),
    feeds.map(({ nextRun }) => nextRun?.dueAt ?? null),
    note ?? null,
  ]);
  return rows.map(({ object }) => object);
}
