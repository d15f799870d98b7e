import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { msOf, timestampOf } from './times.ts';

/** What a feed reads: records that changed, or what all of them are associated with. */
export type FeedKind = 'records' | 'associations';
export type Pause = 'object' | 'installation' | 'failures' | 'removed';

export interface FeedPlace {
  projectId: string;
  installationId: string;
}

/** Who makes the feeds of an installation new is alone with it until its transaction ends. */
const aloneWith = `hashtextextended('svc:feeds:' || project_id || ':' || installation_id, 0)`;

const staleInstallations = statement(
  'read_stale_list',
  `SELECT project_id AS "projectId", installation_id AS "installationId" FROM (SELECT * FROM read_stale ORDER BY id LIMIT $1) s
  GROUP BY project_id, installation_id ORDER BY min(id)`,
);

/** Installations whose feeds are to be looked at, by the oldest notes of a change, of which so many are looked through. */
export function listStaleInstallations(db: Queryable, limit: number): Promise<FeedPlace[]> {
  return db.rows(staleInstallations, [limit]);
}

const taken = (held: string): string => `WITH stale AS MATERIALIZED (
    SELECT DISTINCT project_id, installation_id FROM read_stale WHERE project_id = $1 AND installation_id = $2),
  held AS MATERIALIZED (${held})
  DELETE FROM read_stale s USING held h WHERE s.project_id = h.project_id AND s.installation_id = h.installation_id RETURNING s.id`;

const takeStale = statement(
  'read_stale_take_one',
  taken(`SELECT s.*, pg_advisory_xact_lock(${aloneWith}) FROM stale s`),
);
const takeStaleUnlessHeld = statement(
  'read_stale_take_unless_held',
  taken(`SELECT * FROM stale WHERE pg_try_advisory_xact_lock(${aloneWith})`),
);

/**
 * Whether the feeds of the installation are to be looked at; in the transaction that looks. Waits for another that is at it, or leaves
 * it to that.
 */
export async function takeStaleInstallation(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  { unlessHeld = false } = {},
): Promise<boolean> {
  const take = unlessHeld ? takeStaleUnlessHeld : takeStale;
  return (await tx.rows(take, [projectId, installationId])).length > 0;
}

const putStaleBehind = statement(
  'read_stale_put_behind',
  `WITH noted AS (DELETE FROM read_stale WHERE project_id = $1 AND installation_id = $2 RETURNING project_id, installation_id)
  INSERT INTO read_stale (project_id, installation_id) SELECT DISTINCT project_id, installation_id FROM noted`,
);

/** Its turn comes again behind the others. */
export async function putInstallationBehind(
  db: Queryable,
  { projectId, installationId }: FeedPlace,
): Promise<void> {
  await db.rows(putStaleBehind, [projectId, installationId]);
}

const leaveAccount = statement(
  'read_feeds_leave_account',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  former AS MATERIALIZED (
    SELECT * FROM read_feed WHERE project_id = $1 AND installation_id = $2 AND connection_id <> $3
    ORDER BY object, kind FOR UPDATE),
  unseen AS (
    DELETE FROM read_seen s USING former o
    WHERE s.project_id = $1 AND s.installation_id = $2 AND s.object = o.object AND o.kind = 'records'),
  unlinked AS (
    DELETE FROM read_link l USING former o
    WHERE l.project_id = $1 AND l.installation_id = $2 AND l.object = o.object AND o.kind = 'associations'),
  begun AS (
    UPDATE read_feed f SET connection_id = $3, started_at = now, watermark = now, schedule = NULL, tick_at = NULL, next_at = 'infinity',
      run_id = NULL, last_run_id = NULL, backfill_id = NULL, failures = 0, excused = 0, paused = nullif(f.paused, 'failures'),
      paused_at = CASE WHEN f.paused <> 'failures' THEN f.paused_at END
    FROM clock, former o WHERE f.project_id = $1 AND f.installation_id = $2 AND f.object = o.object AND f.kind = o.kind)
  SELECT object, kind, connection_id AS "laneId", run_id AS "runId", backfill_id AS "backfillId" FROM former`,
);

/** A feed that was of another connection: the lane of that, and the runs that went on there. */
export interface LeftFeed {
  object: string;
  kind: FeedKind;
  laneId: string;
  runId: string | null;
  backfillId: string | null;
}

/**
 * Makes the feeds of other connections as those of a new installation: how far one account was read, and what was delivered of it, says
 * nothing of another. What somebody paused stays so. Answers with the feeds as they were.
 */
export function leaveFormerAccount(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  connectionId: string,
): Promise<LeftFeed[]> {
  return tx.rows(leaveAccount, [projectId, installationId, connectionId]);
}

/** A feed as config and manifest want it. Times are milliseconds since the epoch. */
export interface WantedFeed {
  objectName: string;
  kind: FeedKind;
  /** The associated objects; where they or the schedule change, the next time is `nextRun`. */
  targets: string;
  /** Missing: it is not read by a schedule. */
  schedule: string | undefined;
  nextRun: { tickAt: number; dueAt: number } | undefined;
  /** No longer declared: it rests. */
  removed: boolean;
}

/** Names are told apart here alone: PostgreSQL takes others for one by its `lower` (İ and i). */
const objectOf = ({ objectName }: Pick<WantedFeed, 'objectName'>): string => objectName.toLowerCase();

const databaseTime = statement('read_time', `SELECT ${msOf('svc_now()')} AS now`);

/** Milliseconds since the epoch, by the database's clock. */
export async function timeOf(db: Queryable): Promise<number> {
  const [row] = await db.rows<{ now: number }>(databaseTime);
  return row?.now ?? Date.now();
}

const moveUnreadBeginnings = statement(
  'read_feeds_move_beginnings',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  unread AS MATERIALIZED (
    SELECT f.project_id, f.installation_id, f.object, least(f.started_at, now) - $2 * interval '1 millisecond' AS began
    FROM read_feed f, clock
    WHERE f.kind = 'records' AND f.watermark = f.started_at AND f.started_at < 'infinity'
      AND f.started_at > now - $1 * interval '1 millisecond'
    ORDER BY f.project_id, f.installation_id, f.object FOR NO KEY UPDATE OF f)
  UPDATE read_feed f SET started_at = u.began, watermark = u.began
  FROM unread u WHERE f.project_id = u.project_id AND f.installation_id = u.installation_id AND f.object = u.object AND f.kind = 'records'`,
);

/**
 * Of the feeds by which nothing was read yet, those that began later than so long ago count as begun so much earlier, or so long before now
 * where they are ahead of it. By as much or more it happens once, however many nodes do it.
 */
export async function moveBeginnings(
  db: Queryable,
  { laterThanMs, byMs }: { laterThanMs: number; byMs: number },
): Promise<void> {
  await db.rows(moveUnreadBeginnings, [laterThanMs, byMs]);
}

const isSame = 'f.schedule IS NOT DISTINCT FROM excluded.schedule AND f.targets = excluded.targets';

/**
 * An object that comes to a paused installation, or back to it, is paused with it. A schedule that stays the same keeps its next
 * time. What was paused as removed goes on when it is declared again.
 */
const upsertFeeds = statement(
  'read_feeds_upsert',
  `WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', svc_now()) AS now),
  wanted AS (
    SELECT i.object_name, i.kind, i.targets, i.schedule, i.removed, ${timestampOf('i.tick_ms')} AS tick_at,
      coalesce(${timestampOf('i.due_ms')}, 'infinity') AS next_at, i.object
    FROM unnest($3::text[], $4::text[], $5::float8[], $6::float8[], $7::boolean[], $8::text[], $9::text[], $10::text[])
      AS i(object_name, schedule, tick_ms, due_ms, removed, kind, targets, object)),
  resting AS (
    SELECT EXISTS (SELECT FROM read_feed WHERE project_id = $1 AND installation_id = $2 AND paused = 'installation') AS is),
  unread AS MATERIALIZED (
    SELECT object, kind FROM read_feed WHERE project_id = $1 AND installation_id = $2 AND paused = 'removed'
      AND watermark = started_at AND last_run_id IS NULL AND backfill_id IS NULL)
  INSERT INTO read_feed AS f (project_id, installation_id, object, kind, targets, object_name, schedule, tick_at, next_at, started_at,
    watermark, connection_id, paused, paused_at)
  SELECT $1, $2, w.object, w.kind, w.targets, w.object_name, w.schedule, w.tick_at, w.next_at,
    now, now, $11, CASE WHEN w.removed THEN 'removed' WHEN r.is THEN 'installation' END, CASE WHEN w.removed OR r.is THEN now END
  FROM wanted w, resting r, clock ORDER BY w.object, w.kind
  ON CONFLICT (project_id, installation_id, object, kind) DO UPDATE SET
    targets = excluded.targets, object_name = excluded.object_name, schedule = excluded.schedule,
    connection_id = excluded.connection_id,
    paused = CASE WHEN excluded.paused = 'removed' THEN coalesce(f.paused, 'removed')
      WHEN f.paused = 'removed' THEN excluded.paused ELSE f.paused END,
    paused_at = CASE WHEN excluded.paused = 'removed' THEN coalesce(f.paused_at, excluded.paused_at)
      WHEN f.paused = 'removed' THEN excluded.paused_at ELSE f.paused_at END,
    tick_at = CASE WHEN ${isSame} THEN coalesce(f.tick_at, excluded.tick_at)
      ELSE excluded.tick_at END,
    next_at = CASE WHEN ${isSame} THEN f.next_at ELSE excluded.next_at END
  RETURNING object_name AS "objectName", kind, ${msOf('started_at')} AS "startedAt",
    xmax = 0 OR EXISTS (SELECT FROM unread u WHERE u.object = f.object AND u.kind = f.kind) AS "isNew"`,
);

/** Answers with the feeds, and which of them are new: also those that were removed before anything was read by them. */
export function upsert(
  tx: Queryable,
  { projectId, installationId, connectionId }: FeedPlace & { connectionId: string },
  feeds: readonly WantedFeed[],
): Promise<{ objectName: string; kind: FeedKind; startedAt: number; isNew: boolean }[]> {
  return tx.rows(upsertFeeds, [
    projectId,
    installationId,
    feeds.map(({ objectName }) => objectName),
    feeds.map(({ schedule }) => schedule ?? null),
    feeds.map(({ nextRun }) => nextRun?.tickAt ?? null),
    feeds.map(({ nextRun }) => nextRun?.dueAt ?? null),
    feeds.map(({ removed }) => removed),
    feeds.map(({ kind }) => kind),
    feeds.map(({ targets }) => targets),
    feeds.map(objectOf),
    connectionId,
  ]);
}

const dropOthers = statement(
  'read_feeds_drop',
  `WITH dropped AS (
    DELETE FROM read_feed f WHERE project_id = $1 AND installation_id = $2
      AND NOT EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS i(object, kind) WHERE i.object = f.object AND i.kind = f.kind)
    RETURNING project_id, installation_id, object, kind, run_id, backfill_id),
  unlinked AS (
    DELETE FROM read_link l USING (SELECT object FROM dropped UNION SELECT unnest($3::text[])) d
    WHERE l.project_id = $1 AND l.installation_id = $2 AND l.object = d.object
      AND NOT EXISTS (
        SELECT FROM unnest($3::text[], $4::text[]) AS i(object, kind) WHERE i.object = d.object AND i.kind = 'associations')),
  unseen AS (
    DELETE FROM read_seen s USING dropped d
    WHERE s.project_id = d.project_id AND s.installation_id = d.installation_id AND s.object = d.object
      AND d.kind = 'records')
  SELECT id FROM dropped, unnest(ARRAY[run_id, backfill_id]) AS id WHERE id IS NOT NULL`,
);

/** Forgets all other feeds, and what was remembered for them. Answers with the runs that they named, some of which may go on. */
export async function keepOnly(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  feeds: readonly Pick<WantedFeed, 'objectName' | 'kind'>[],
): Promise<string[]> {
  const objects = feeds.map(objectOf);
  const values = [projectId, installationId, objects, feeds.map(({ kind }) => kind)];
  return (await tx.rows<{ id: string }>(dropOthers, values)).map(({ id }) => id);
}

const setBackfill = statement(
  'read_feed_backfill',
  `UPDATE read_feed SET backfill_id = $4 WHERE project_id = $1 AND installation_id = $2 AND object = $3 AND kind = 'records'`,
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
  kind: FeedKind;
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

/** The columns of a {@link FeedRow}. */
export const feedColumns = `object, kind, object_name AS "objectName", schedule,
    CASE WHEN next_at < 'infinity' AND paused IS NULL THEN next_at END AS "nextAt", watermark, paused, paused_at AS "pausedAt", note, failures,
    last_run_id AS "lastRunId", backfill_id AS "backfillId"`;

const listFeeds = statement(
  'read_feeds_list',
  `SELECT ${feedColumns} FROM read_feed WHERE project_id = $1 AND installation_id = $2 ORDER BY object, kind`,
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
  const rows = await tx.rows<{ object: string }>(pauseFeeds, values);
  return [...new Set(rows.map(({ object }) => object))];
}

const isSameStill = 'f.schedule IS NOT DISTINCT FROM i.schedule';

/** A schedule that was changed since it was looked at came with its next time. */
const unpauseFeeds = statement(
  'read_feeds_unpause',
  `UPDATE read_feed f SET paused = NULL, paused_at = NULL, note = $7, failures = 0, excused = 0,
    next_at = CASE WHEN ${isSameStill} THEN coalesce(${timestampOf('i.due_ms')}, 'infinity') ELSE f.next_at END,
    tick_at = CASE WHEN ${isSameStill} THEN ${timestampOf('i.tick_ms')} ELSE f.tick_at END
  FROM unnest($3::text[], $4::float8[], $5::float8[], $6::text[], $8::text[]) AS i(object, tick_ms, due_ms, kind, schedule)
  WHERE f.project_id = $1 AND f.installation_id = $2 AND f.object = i.object AND f.kind = i.kind AND f.paused <> 'removed'
  RETURNING f.object`,
);

/** Answers with those that were paused. */
export async function unpause(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
  feeds: readonly (Pick<FeedRow, 'object' | 'kind' | 'schedule'> & Pick<WantedFeed, 'nextRun'>)[],
  note: string | undefined,
): Promise<string[]> {
  const rows = await tx.rows<{ object: string }>(unpauseFeeds, [
    projectId,
    installationId,
    feeds.map(({ object }) => object),
    feeds.map(({ nextRun }) => nextRun?.tickAt ?? null),
    feeds.map(({ nextRun }) => nextRun?.dueAt ?? null),
    feeds.map(({ kind }) => kind),
    note ?? null,
    feeds.map(({ schedule }) => schedule),
  ]);
  return [...new Set(rows.map(({ object }) => object))];
}
