import type { Database, Queryable } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';

/** Before every project. Rows of it are ballast for the planner (`svc_ballast`) and mean nothing. */
export const firstProject = '00000000-0000-0000-0000-000000000000';

/** A lane whose work cannot start now for a reason that is not a time is looked at again after this long. */
const recheck = `interval '60 seconds'`;

/** What is asked of a lane's ready items is asked for each priority, in their order: an index has them one after the other. */
export const priorities = `(VALUES (0), (1), (2), (3)) AS p(prio)`;

/** Items of a lane `i` that a node has marked, or waits for; one index for each. */
export const markedOrParked = (condition: string): string =>
  [1, 2]
    .map(
      (state) => `SELECT w.* FROM work w
    WHERE w.project_id = i.project_id AND w.lane_id = i.id AND w.state = ${state} AND ${condition}`,
    )
    .join(' UNION ALL ');

/**
 * An item may start: nothing accepted earlier concerns one of its records, and no synchronous write of one is under way that did not see
 * it: a number is given before the commit. LIMIT keeps to the index: where one record has nearly all turns, a join is planned to read
 * them all.
 */
export const itsTurn = `(NOT w.ordered OR NOT EXISTS (
  SELECT FROM turn mine CROSS JOIN LATERAL (
    (SELECT FROM turn earlier
    WHERE earlier.project_id = mine.project_id AND earlier.order_key = mine.order_key AND earlier.seq < mine.seq
    ORDER BY earlier.seq LIMIT 1)
    UNION ALL
    (SELECT FROM turn later
    WHERE later.project_id = mine.project_id AND later.order_key = mine.order_key AND later.marked AND later.seq > mine.seq
      AND (SELECT s.state FROM work s WHERE s.project_id = later.project_id AND s.seq = later.seq) = 1
    LIMIT 1)) other
  WHERE mine.project_id = w.project_id AND mine.seq = w.seq))`;

const foldWakes = statement(
  'lane_fold',
  `WITH taken AS (
    DELETE FROM wake
    WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM wake WHERE id < 8000000000000000000 ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED))
    RETURNING project_id, lane_id, due_at),
  folded AS (
    SELECT project_id, lane_id, min(due_at) AS due_at, count(*) AS n FROM taken GROUP BY 1, 2 ORDER BY 1, 2)
  INSERT INTO lane AS l (project_id, id, due_at, wakes) SELECT project_id, lane_id, due_at, 1 FROM folded
  ON CONFLICT (project_id, id) DO UPDATE SET wakes = l.wakes + 1,
    due_at = CASE WHEN l.lease IS NOT NULL OR l.paused THEN l.due_at
      ELSE least(l.due_at, greatest(excluded.due_at, l.not_before)) END
  RETURNING project_id, id`,
);

/**
 * Steps from project to project, a few of the longest due lanes of each, so that no project's many lanes hide another's. A held
 * lane without a `not_before` was hurried while it was held.
 */
const claimText = ({
  exists,
}: Pick<GatheredSql, 'exists'>): string => `WITH RECURSIVE clock AS MATERIALIZED (SELECT svc_now() AS now),
  projects(project_id) AS (
    (SELECT project_id FROM lane WHERE due_at < 'infinity' AND project_id > $1 ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.project_id FROM lane l WHERE l.due_at < 'infinity' AND l.project_id > p.project_id
      ORDER BY l.project_id LIMIT 1)
    FROM projects p WHERE p.project_id IS NOT NULL),
  due AS MATERIALIZED (
    SELECT l.project_id, l.id FROM projects p CROSS JOIN LATERAL (
      SELECT project_id, id FROM lane
      WHERE project_id = p.project_id AND due_at <= (SELECT now FROM clock) AND due_at < 'infinity'
      ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED) l
    WHERE p.project_id IS NOT NULL LIMIT $3)
  UPDATE lane l SET lease = $4, due_at = (SELECT now FROM clock) + $5 * interval '1 millisecond',
    not_before = greatest(l.not_before, 'epoch')
  FROM due WHERE l.project_id = due.project_id AND l.id = due.id
  RETURNING l.project_id AS "projectId", l.id, l.lease, l.wakes, l.kind,
    ${exists} AS gathers`;

/** Due at once: what was sent under the lease is rescued by the next claim. */
const releaseLeases = statement(
  'lane_release',
  `WITH held AS MATERIALIZED (
    SELECT project_id, id FROM lane WHERE due_at < 'infinity' AND lease = ANY ($1::uuid[])
    ORDER BY project_id, id FOR UPDATE)
  UPDATE lane l SET lease = NULL, due_at = svc_now()
  FROM held h WHERE l.project_id = h.project_id AND l.id = h.id`,
);

const extendLeases = statement(
  'lane_extend',
  `WITH held AS MATERIALIZED (
    SELECT l.project_id, l.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i(project_id, id, lease)
    JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
    ORDER BY l.project_id, l.id FOR NO KEY UPDATE OF l)
  UPDATE lane l SET due_at = svc_now() + $4 * interval '1 millisecond'
  FROM held h WHERE l.project_id = h.project_id AND l.id = h.id
  RETURNING l.project_id AS "projectId", l.id, l.lease`,
);

/**
 * The row's own counter decides against a wake that was folded meanwhile: an update that waited for the fold sees it.
 * Sent rows keep the lane due, so that whoever claims it next rescues them; so do writes that wait for their turn in
 * a node's lane, which nobody sends any more. FOR UPDATE keeps takes out. A lane that was hurried while it was held does not
 * rest: what blocks it was seen before. A lane that is not blocked keeps no time: by a clock that was ahead it would rest until then.
 */
const giveBackText = ({
  dueAt,
}: Pick<GatheredSql, 'dueAt'>): string => `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  held AS MATERIALIZED (
    SELECT l.project_id, l.id, l.kind, i.wakes, l.wakes AS wakes_now, l.paused,
      CASE WHEN l.not_before = '-infinity' THEN 'epoch'
        WHEN i.blocked_ms > 0 THEN greatest(l.not_before, (SELECT now FROM clock) + i.blocked_ms * interval '1 millisecond')
        ELSE l.not_before END AS not_before
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::float8[]) AS i(project_id, id, lease, wakes, blocked_ms)
    JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
    ORDER BY l.project_id, l.id FOR UPDATE OF l),
  resting AS MATERIALIZED (SELECT h.*, greatest(h.not_before, now) AS rests_until FROM clock, held h),
  planned AS MATERIALIZED (
    SELECT h.*, sent.remain OR front.due_at IS NOT NULL OR parked.deadline IS NOT NULL AS holds, coalesce(CASE
      WHEN sent.remain OR (h.kind = 'node' AND parked.deadline IS NOT NULL) THEN now
      WHEN h.paused THEN 'infinity'
      WHEN h.wakes <> h.wakes_now THEN least(h.rests_until, gathered.due_at)
      ELSE least(greatest(coalesce(eligible.due_at, 'infinity'), h.rests_until), gathered.due_at,
        CASE WHEN front.due_at IS NOT NULL THEN greatest(front.due_at, now) + ${recheck} END,
        CASE WHEN parked.deadline IS NOT NULL THEN greatest(parked.deadline, now) END)
      END, 'infinity') AS due_at
    FROM clock, resting h
    CROSS JOIN LATERAL (SELECT EXISTS (
      SELECT FROM work w WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 1) AS remain) sent
    CROSS JOIN LATERAL (SELECT min(w.due_at) AS due_at FROM ${priorities} CROSS JOIN LATERAL (
      SELECT w.due_at FROM work w WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 0 AND w.prio = p.prio
      ORDER BY w.due_at LIMIT 1) w) front
    CROSS JOIN LATERAL (SELECT min(w.due_at) AS due_at FROM ${priorities} CROSS JOIN LATERAL (
      SELECT w.due_at FROM work w WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 0 AND w.prio = p.prio
        AND ${itsTurn} ORDER BY w.due_at LIMIT 1) w) eligible
    LEFT JOIN LATERAL (SELECT w.deadline FROM work w WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 2
      ORDER BY w.deadline LIMIT 1) parked ON true
    CROSS JOIN LATERAL (SELECT
        CASE WHEN g.due_at IS NOT NULL THEN greatest(g.due_at, least(h.rests_until, now + ${recheck})) END AS due_at
      FROM (SELECT ${dueAt} AS due_at) g) gathered),
  gone AS (
    DELETE FROM lane l USING planned p
    WHERE l.project_id = p.project_id AND l.id = p.id AND p.kind = 'node' AND NOT p.holds)
  UPDATE lane l SET lease = NULL, not_before = p.not_before, due_at = p.due_at
  FROM planned p WHERE l.project_id = p.project_id AND l.id = p.id AND (p.kind <> 'node' OR p.holds)
  RETURNING l.project_id AS "projectId", l.id`;

/** In order, so that two of these do not wait for one another. */
const lockHeldLanes = statement(
  'lanes_lock_held',
  `SELECT l.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i(project_id, id, lease)
  JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
  ORDER BY l.project_id, l.id FOR UPDATE OF l`,
);

/** What gathers beside a lane, as SQL over its row. */
export interface GatheredSql {
  /** Whether there is any, for a lane `l`. */
  exists: string;
  /** When the first of it is ready, for a lane `h`; NULL for nothing. */
  dueAt: string;
}

/** The statements that look at what gathers. */
export interface Gathering {
  claim: Statement;
  giveBack: Statement;
}

/** Declares them, once for each sort of thing that gathers. */
export function gathering(name: string, sql: GatheredSql): Gathering {
  return {
    claim: statement(`lane_claim${name}`, claimText(sql)),
    giveBack: statement(`lane_give_back${name}`, giveBackText(sql)),
  };
}

/** Nothing gathers. */
export const plain = gathering('', { exists: 'false', dueAt: 'NULL::timestamptz' });

const setPaused = statement(
  'lane_pause',
  `INSERT INTO lane AS l (project_id, id, due_at, paused)
    VALUES ($1, $2, CASE WHEN $3 THEN 'infinity'::timestamptz ELSE svc_now() END, $3)
  ON CONFLICT (project_id, id) DO UPDATE SET paused = excluded.paused, wakes = l.wakes + 1,
    due_at = CASE WHEN l.lease IS NOT NULL THEN l.due_at ELSE excluded.due_at END`,
);

const restLane = statement(
  'lane_rest',
  `INSERT INTO lane AS l (project_id, id, due_at, not_before) VALUES ($1, $2, 'infinity', svc_now() + $3 * interval '1 millisecond')
  ON CONFLICT (project_id, id) DO UPDATE SET not_before = greatest(l.not_before, excluded.not_before)`,
);

const openNodeLane = statement(
  'lane_open_node',
  `INSERT INTO lane (project_id, id, due_at, lease, kind)
  VALUES ($1, $2, svc_now() + $4 * interval '1 millisecond', $3, 'node')`,
);

const leaveNodeWork = statement(
  'lane_leave_node_work',
  `WITH left_behind AS (
    UPDATE work SET lane_id = $3 WHERE project_id = $1 AND lane_id = $2 AND state = 0 RETURNING due_at)
  INSERT INTO lane (project_id, id, due_at, kind) SELECT $1, $3, min(due_at), 'node' FROM left_behind HAVING count(*) > 0`,
);

/** Moves up to 1,000 wake-ups into their lanes; answers with the lanes. */
export function fold(db: Queryable): Promise<{ projectId: string; id: string }[]> {
  return db.rows(foldWakes);
}

const oldestWake = statement(
  'lane_oldest_wake',
  `SELECT (extract(epoch FROM svc_now() - min(due_at)))::float8 AS seconds FROM wake WHERE due_at < 'infinity'`,
);

/** For how many seconds something has waited that no worker has looked at; undefined where nothing waits. Ballast is due never. */
export async function unseenSeconds(db: Queryable): Promise<number | undefined> {
  const [row] = await db.rows<{ seconds: number | null }>(oldestWake);
  return row?.seconds ?? undefined;
}

export interface ClaimRequest {
  /** Projects after this one first; the caller goes round. */
  afterProject: string;
  perProject: number;
  limit: number;
  lease: string;
  leaseMs: number;
}

/** Leases due lanes, each to one claimer only. */
export function claim(db: Queryable, request: ClaimRequest, { claim: asked } = plain): Promise<HeldLane[]> {
  const { afterProject, perProject, limit, lease, leaseMs } = request;
  return db.rows(asked, [afterProject, perProject, limit, lease, leaseMs]);
}

/** A lane in the hands of this process. `wakes` is its counter as last read: give-back compares it. */
export interface HeldLane extends LaneKey {
  wakes: string;
  kind: string;
  /** Whether something gathers beside it. */
  gathers: boolean;
}

/** Renews leases, and answers of which; a lane that is missing there was lost. */
export async function extend<Lane extends LaneKey>(
  db: Queryable,
  lanes: readonly Lane[],
  leaseMs: number,
): Promise<Set<Lane>> {
  const kept = new Set((await db.rows<LaneKey>(extendLeases, [...keys(lanes), leaseMs])).map(holdingOf));
  return new Set(lanes.filter((lane) => kept.has(holdingOf(lane))));
}

export interface LaneKey {
  projectId: string;
  id: string;
  lease: string;
}

/** A lane under one lease. Lanes of two projects may have the same id, and one lease covers all that were claimed at once. */
export function holdingOf({ projectId, id, lease }: LaneKey): string {
  return `${projectId}/${id}/${lease}`;
}

/** `blockedMs`: nothing of the lane may be sent for that long (throttled); 0 for no such wish. */
export type GivenLane = LaneKey & { wakes: string; blockedMs: number };

export async function giveBack(
  db: Queryable,
  lanes: readonly GivenLane[],
  { giveBack: asked } = plain,
): Promise<void> {
  await db.rows(asked, [
    ...keys(lanes),
    lanes.map((lane) => lane.wakes),
    lanes.map((lane) => lane.blockedMs),
  ]);
}

/**
 * What is accepted or taken under the lanes is committed then, and nothing more is. A statement that begins afterwards sees it; one that
 * only waits for it does not.
 */
export async function lockHeld(tx: Queryable, lanes: readonly LaneKey[]): Promise<void> {
  await tx.rows(lockHeldLanes, keys(lanes));
}

/** The lanes of a node, which go when they are empty: what was being accepted under them must be seen. */
export async function giveBackNodes(db: Database, lanes: readonly LaneKey[]): Promise<void> {
  const given = lanes.map((lane) => Object.assign({ wakes: '0', blockedMs: 0 }, lane));
  await db.transaction(async (tx) => {
    await lockHeld(tx, lanes);
    await giveBack(tx, given);
  });
}

export async function release(db: Queryable, leases: readonly string[]): Promise<void> {
  await db.rows(releaseLeases, [leases]);
}

export async function pause(
  db: Queryable,
  projectId: string,
  laneId: string,
  paused: boolean,
): Promise<void> {
  await db.rows(setPaused, [projectId, laneId, paused]);
}

/** Nothing of the lane may be sent for that long: for one who does not hold it, and heard so. */
export async function rest(db: Queryable, projectId: string, laneId: string, forMs: number): Promise<void> {
  await db.rows(restLane, [projectId, laneId, forMs]);
}

export async function openNode(db: Queryable, lane: LaneKey, leaseMs: number): Promise<void> {
  await db.rows(openNodeLane, [lane.projectId, lane.id, lane.lease, leaseMs]);
}

/** Moves what waits in a node's lane into a new one that nobody holds. */
export async function leaveWork(db: Queryable, lane: LaneKey, newLaneId: string): Promise<void> {
  await db.rows(leaveNodeWork, [lane.projectId, lane.id, newLaneId]);
}

function keys(lanes: readonly LaneKey[]): string[][] {
  return [lanes.map((lane) => lane.projectId), lanes.map((lane) => lane.id), lanes.map((lane) => lane.lease)];
}
