import type { Database, Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Marked } from '../kind.ts';
import { isMark, markOf, woken } from './record-parts.ts';
import {
  giveBack,
  itsTurn,
  lockHeld,
  markedOrParked,
  priorities,
  type Gathering,
  type GivenLane,
  type LaneKey,
} from './lanes.ts';

/** Lanes of the caller whose lease holds. The key-share lock keeps claims and give-backs out until the commit. */
const heldLanes = (condition: string): string => `held AS MATERIALIZED (
  SELECT l.project_id, l.id, l.lease, l.wakes, l.not_before, l.kind, i.room
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[]) AS i(project_id, id, lease, room)
  JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
  WHERE l.due_at > (SELECT now FROM clock) ${condition}
  FOR KEY SHARE OF l)`;

const markedColumns = `m.project_id AS "projectId", m.seq, m.lane_id AS "laneId", m.of_node AS "isOfNode", m.lease, ${markOf('m')} AS mark, m.kind,
  m.ref, m.attempt, m.expired, m.trace,
  (extract(epoch FROM m.deadline - (SELECT now FROM clock)) * 1000)::float8 AS "remainingMs"`;

/**
 * Take is mark: what is returned has its attempt committed before its first byte. Past its deadline: not marked;
 * and so what waited for its turn on a node that is gone, and which nobody sends. The more urgent first.
 */
const takeItems = statement(
  'work_take',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now), ${heldLanes('AND NOT l.paused')},
  chosen AS MATERIALIZED (
    SELECT w.project_id, w.seq, h.lease, h.kind = 'node' AS of_node, w.expired FROM held h CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT w.project_id, w.seq, true AS expired FROM work w
        WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 2
          AND w.deadline <= CASE h.kind WHEN 'node' THEN 'infinity' ELSE (SELECT now FROM clock) END
        ORDER BY w.deadline LIMIT h.room FOR UPDATE OF w SKIP LOCKED) late
      UNION ALL
      SELECT w.* FROM ${priorities} CROSS JOIN LATERAL (
        SELECT w.project_id, w.seq, w.deadline <= (SELECT now FROM clock) AS expired FROM work w
        WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 0 AND w.prio = p.prio
          AND w.due_at <= (SELECT now FROM clock) AND w.lease IS DISTINCT FROM h.lease
          AND (w.deadline <= (SELECT now FROM clock) OR (h.not_before <= (SELECT now FROM clock) AND ${itsTurn}))
        ORDER BY w.due_at, w.seq LIMIT h.room FOR UPDATE OF w SKIP LOCKED) w
      LIMIT h.room) w),
  m AS (
    UPDATE work w SET lease = c.lease, state = (NOT c.expired)::int, attempt = w.attempt + (NOT c.expired)::int
    FROM chosen c WHERE w.project_id = c.project_id AND w.seq = c.seq
    RETURNING w.*, c.expired, c.of_node)
  SELECT ${markedColumns} FROM m ORDER BY m.prio, m.due_at, m.seq`,
);

/** Sent rows under another's lease: their node died or was cut off, and nobody knows what became of them. */
const rescueItems = statement(
  'work_rescue',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now), ${heldLanes('')},
  lost AS MATERIALIZED (
    SELECT w.project_id, w.seq, h.lease, h.kind = 'node' AS of_node FROM held h CROSS JOIN LATERAL (
      SELECT w.project_id, w.seq FROM work w
      WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 1 AND w.lease IS DISTINCT FROM h.lease
      ORDER BY w.seq LIMIT h.room FOR UPDATE OF w) w),
  m AS (
    UPDATE work w SET lease = l.lease FROM lost l WHERE w.project_id = l.project_id AND w.seq = l.seq
    RETURNING w.*, false AS expired, l.of_node)
  SELECT ${markedColumns}, true AS "isLost" FROM m ORDER BY m.seq`,
);

/** What stands as started, or waits for its turn, under the leases of a node and is none of what it knows. */
const findStrayItems = statement(
  'work_stray',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  m AS MATERIALIZED (
    SELECT w.*, false AS expired, true AS of_node FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i(project_id, id, lease)
    CROSS JOIN LATERAL (${markedOrParked('w.lease = i.lease')}) w
    WHERE w.ref <> ALL ($4::uuid[]) LIMIT 100)
  SELECT ${markedColumns} FROM m`,
);

/** Waits for a take that has not committed yet, and keeps a later one out. */
/** For a take whose answer was lost: what it may have marked was never sent by us. */
const unmarkItems = statement(
  'work_unmark',
  `UPDATE work SET state = 0, lease = NULL, attempt = attempt - 1
  WHERE project_id = $1 AND lane_id = $2 AND state = 1 AND lease = $3 AND seq <> ALL($4::bigint[])`,
);

/** It is due again after a while, in the lane where it belongs. The attempt counts no longer unless it was spent. */
const putItemBack = statement(
  'work_put_back',
  `WITH back AS (
    UPDATE work w SET state = 0, lease = NULL, due_at = svc_now() + $4 * interval '1 millisecond',
      attempt = attempt - (NOT $5)::int, lane_id = coalesce(home_id, lane_id)
    WHERE project_id = $1 AND seq = $2 AND lease = $3 AND ${isMark('$6::bigint')}
    RETURNING project_id, seq, lane_id, home_id, due_at),
  woken AS (${woken('SELECT * FROM back WHERE home_id IS NOT NULL')})
  SELECT seq FROM back`,
);

/** Marks a parked item of a node's lane whose turn it is; also one that is marked already, whose answer was lost. */
const markParked = statement(
  'work_mark_parked',
  `WITH held AS MATERIALIZED (
    SELECT l.project_id, l.id, l.lease FROM lane l
    WHERE l.project_id = $1 AND l.id = $2 AND l.lease = $3 AND l.due_at > svc_now() FOR KEY SHARE OF l),
  m AS (
    UPDATE work w SET state = 1, attempt = 1 FROM held h
    WHERE w.project_id = $1 AND w.seq = $4 AND w.lane_id = h.id AND w.lease = h.lease AND w.state IN (1, 2) AND ${itsTurn}
    RETURNING w.project_id, w.seq),
  turns AS (UPDATE turn t SET marked = true FROM m WHERE t.project_id = m.project_id AND t.seq = m.seq)
  SELECT seq FROM m`,
);

/**
 * Makes parked work ready before its turn: its take looks again. Like an acceptance that parks, it holds a turn before its own until the
 * commit, or the turn could pass to a locked row; where all of them are being taken away, it leaves the work parked.
 */
const unparkItem = statement(
  'work_unpark',
  `WITH standing AS MATERIALIZED (
    SELECT e.seq FROM turn mine CROSS JOIN LATERAL (
      SELECT e.seq FROM turn e WHERE e.project_id = mine.project_id AND e.order_key = mine.order_key AND e.seq < mine.seq
      ORDER BY e.seq DESC LIMIT 1 FOR KEY SHARE OF e SKIP LOCKED) e
    WHERE mine.project_id = $1 AND mine.seq = $2),
  chosen AS MATERIALIZED (
    SELECT w.project_id, w.seq FROM work w
    WHERE w.project_id = $1 AND w.seq = $2 AND w.kind = $3 AND w.ref = $4 AND w.state = 2 AND w.lease IS NULL
      AND (EXISTS (SELECT FROM standing) OR ${itsTurn}) FOR UPDATE OF w SKIP LOCKED),
  ready AS (
    UPDATE work w SET state = 0 FROM chosen c WHERE w.project_id = c.project_id AND w.seq = c.seq
    RETURNING w.project_id, w.lane_id, svc_now() AS due_at)
  ${woken('SELECT * FROM ready')}`,
);

/**
 * Takes work that waits out of its lane, for who ends it in the same transaction; none of it was started. What is under way is left. So
 * is what is parked: its turn may come before the commit, and passes over a locked row, which would stay parked after a rollback.
 */
const withholdItem = statement(
  'work_withhold',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  chosen AS MATERIALIZED (
    SELECT project_id, seq FROM work WHERE project_id = $1 AND seq = $2 AND kind = $3 AND ref = $4
      AND state = 0 FOR UPDATE SKIP LOCKED),
  m AS (
    UPDATE work w SET lease = $5, state = 1 FROM chosen c WHERE w.project_id = c.project_id AND w.seq = c.seq
    RETURNING w.*, true AS expired, false AS of_node)
  SELECT ${markedColumns} FROM m`,
);

const waitingItem = statement(
  'work_waiting',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  m AS (
    SELECT w.*, false AS expired, false AS of_node FROM work w
    WHERE project_id = $1 AND seq = $2 AND kind = $3 AND ref = $4 AND (state = 0 OR (state = 2 AND lease IS NULL)))
  SELECT ${markedColumns} FROM m`,
);

/**
 * Marks work of a kind as started by nobody who is left, whatever it was, and makes its lanes due: whoever claims one finds
 * out what became of it, or the caller ends it under this lease.
 */
const doubtItems = statement(
  'work_doubt',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  chosen AS MATERIALIZED (
    SELECT project_id, seq FROM work WHERE kind = $1 AND (project_id, seq) > ($3, $4)
    ORDER BY project_id, seq LIMIT 500 FOR UPDATE),
  m AS (
    UPDATE work w SET lease = $2, state = 1, attempt = w.attempt + (w.state <> 1)::int FROM chosen c
    WHERE w.project_id = c.project_id AND w.seq = c.seq
    RETURNING w.*, false AS expired, EXISTS (
      SELECT FROM lane l WHERE l.project_id = w.project_id AND l.id = w.lane_id AND l.kind = 'node') AS of_node),
  due AS (
    INSERT INTO lane AS l (project_id, id, due_at)
    SELECT DISTINCT project_id, lane_id, (SELECT now FROM clock) FROM m ORDER BY project_id, lane_id
    ON CONFLICT (project_id, id) DO UPDATE SET lease = NULL, due_at = excluded.due_at)
  SELECT ${markedColumns} FROM m ORDER BY m.project_id, m.seq`,
);

export type TakeRequest = LaneKey & { room: number };

/** Items to be done now, marked as started under the lane's lease; at most `room` of each lane. */
export async function take(db: Queryable, lanes: readonly TakeRequest[]): Promise<Marked[]> {
  return db.rows(takeItems, laneColumns(lanes));
}

/** Items that were being sent when their lane was lost; they are ours from now on. At most `room` of each lane. */
export async function rescue(db: Queryable, lanes: readonly TakeRequest[]): Promise<Marked[]> {
  return db.rows(rescueItems, laneColumns(lanes));
}

/** The next of what there is of a kind after a place, in order, as started under `lease`; for when no node works. */
export function doubt(
  db: Queryable,
  kind: string,
  lease: string,
  after: Pick<Marked, 'projectId' | 'seq'>,
): Promise<Marked[]> {
  return db.rows(doubtItems, [kind, lease, after.projectId, after.seq]);
}

/** Outside of any transaction, before {@link withhold}: for work of a kind that may be parked. */
export async function unpark(
  db: Database,
  kind: string,
  { projectId, seq, ref }: Pick<Marked, 'projectId' | 'seq' | 'ref'>,
): Promise<void> {
  await db.rows(unparkItem, [projectId, seq, kind, ref]);
}

/** Work of a kind that waits, as `lease` holds it until the transaction ends; undefined where it is under way, or done. */
export async function withhold(
  tx: Queryable,
  kind: string,
  { projectId, seq, ref, lease }: Pick<Marked, 'projectId' | 'seq' | 'ref' | 'lease'>,
): Promise<Marked | undefined> {
  return (await tx.rows<Marked>(withholdItem, [projectId, seq, kind, ref, lease]))[0];
}

/** Work of a kind that waits, as it is. Undefined where it is under way, or done. */
export async function findWaiting(
  db: Queryable,
  kind: string,
  { projectId, seq, ref }: Pick<Marked, 'projectId' | 'seq' | 'ref'>,
): Promise<Marked | undefined> {
  return (await db.rows<Marked>(waitingItem, [projectId, seq, kind, ref]))[0];
}

export async function findStray(
  db: Queryable,
  lanes: readonly LaneKey[],
  known: readonly string[],
): Promise<Marked[]> {
  const [projects, ids, leases] = laneColumns(lanes.map((lane) => Object.assign({ room: 0 }, lane)));
  return db.rows(findStrayItems, [projects, ids, leases, known]);
}

/** Gives a lane back whose take was not answered, and unmarks what that may have marked, except what was sent. */
export async function giveBackUnmarked(
  db: Database,
  lane: GivenLane,
  except: readonly string[],
  gathering?: Gathering,
): Promise<void> {
  const key = [lane.projectId, lane.id, lane.lease];
  await db.transaction(async (tx) => {
    await lockHeld(tx, [lane]);
    await tx.rows(unmarkItems, [...key, except]);
    await giveBack(tx, [lane], gathering);
  });
}

function laneColumns(lanes: readonly TakeRequest[]): unknown[][] {
  return [
    lanes.map((lane) => lane.projectId),
    lanes.map((lane) => lane.id),
    lanes.map((lane) => lane.lease),
    lanes.map((lane) => lane.room),
  ];
}

/** Answers whether the fence held. */
export async function putBack(
  db: Queryable,
  { projectId, seq, lease, mark }: Pick<Marked, 'projectId' | 'seq' | 'lease' | 'mark'>,
  waitMs: number,
  spent: boolean,
): Promise<boolean> {
  return (await db.rows(putItemBack, [projectId, seq, lease, waitMs, spent, mark])).length > 0;
}

/** Marks what is parked under a node's lane as started, if its turn has come and the lane is still held; answers whether. */
export async function markInTurn(db: Queryable, lane: LaneKey, seq: string): Promise<boolean> {
  return (await db.rows(markParked, [lane.projectId, lane.id, lane.lease, seq])).length > 0;
}
