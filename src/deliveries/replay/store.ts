import type { Queryable } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import { currentTrace } from '../../kit/trace.ts';
import { queued, recordParts } from '../../lanes/index.ts';
import type { DeliveryStatus } from '../schema.ts';
import { standing } from '../store/destinations.ts';
import { deadline } from '../store/messages.ts';
import type { ReplayEnd, ReplayState } from './step.ts';
import type { ReplayFilter } from './schema.ts';

/** Behind everything that is delivered for the first time. */
const priority = 3;
/** Why a replay to a destination that was deleted ends. */
export const goneReason = 'The destination was deleted.';

export interface ReplayRow {
  project_id: string;
  id: string;
  destination_id: string;
  filter: ReplayFilter;
  /** Messages up to this id were looked at. */
  place: string;
  /** Messages from this id on are left out. */
  until: string;
  status: ReplayState;
  reason: string | null;
  queued: string;
  delivered: string;
  failed: string;
  created_at: Date;
  updated_at: Date;
  /** Something of it, or of another one to the same destination, waits there. */
  waits: boolean;
}

const waiting = `SELECT FROM work w
  WHERE w.project_id = r.project_id AND w.lane_id = r.destination_id AND w.state IN (0, 1) AND w.prio = ${priority}`;
const columns = `r.project_id, r.id, r.destination_id, r.filter, r.place, r.until, r.status, r.reason, r.queued, r.delivered,
  r.failed, r.created_at, r.updated_at, EXISTS (${waiting}) AS waits`;

const insert = statement(
  'replay_insert',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  made AS (
    INSERT INTO replay (project_id, id, destination_id, filter, place, until) VALUES ($1, $2, $3, $4, $5, $6)
    RETURNING project_id, id, destination_id),
  ${queued(
    'replay',
    `SELECT 1 AS n, project_id, id AS ref, destination_id AS lane_id, ${priority} AS prio, now AS due_at, now + ${deadline} AS deadline,
      $7::text AS trace
    FROM made, clock`,
  )}
  SELECT id FROM made`,
);
const list = statement(
  'replays_list',
  `SELECT ${columns} FROM replay r WHERE r.project_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`,
);
const find = statement(
  'replay_find',
  `SELECT ${columns} FROM replay r WHERE r.project_id = $1 AND r.id = $2`,
);
const load = statement(
  'replays_load',
  `SELECT i.n::int AS n, ${columns}, (SELECT count(*) FROM (${waiting} AND w.kind = 'delivery' LIMIT $3) w)::int AS backlog
  FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS i(project_id, id, n)
  JOIN replay r ON r.project_id = i.project_id AND r.id = i.id`,
);

/** In a statement of its own: what a step under way has queued is seen by the next one. */
const lock = statement(
  'replay_lock',
  `SELECT id FROM replay WHERE project_id = $1 AND id = $2 AND status <> 'canceled' FOR UPDATE`,
);

/**
 * Nothing more is queued, and what waits for an attempt is taken back: a delivery is as it was before, or canceled where it
 * never was. An attempt that is on its way ends as it does, and none follows it.
 */
const cancel = statement(
  'replay_cancel',
  `WITH canceled AS (
    UPDATE replay SET status = 'canceled', reason = $3, updated_at = svc_now()
    WHERE project_id = $1 AND id = $2 AND status <> 'canceled' RETURNING project_id, id, destination_id),
  waiting AS MATERIALIZED (
    SELECT w.project_id, w.seq, d.message_id, d.destination_id FROM canceled c
    CROSS JOIN LATERAL (
      SELECT * FROM work w
      WHERE w.project_id = c.project_id AND w.lane_id = c.destination_id AND w.state = 0 AND w.prio = ${priority}
        AND w.kind = 'delivery' FOR UPDATE SKIP LOCKED) w
    CROSS JOIN LATERAL (
      SELECT * FROM delivery d
      WHERE d.project_id = w.project_id AND d.message_id = w.ref AND d.destination_id = w.lane_id LIMIT 1) d
    WHERE d.replay_id = c.id),
  gone AS (DELETE FROM work w USING waiting i WHERE w.project_id = i.project_id AND w.seq = i.seq),
  back AS (
    INSERT INTO delivery AS d SELECT o.* FROM waiting i CROSS JOIN LATERAL (
      SELECT * FROM delivery d
      WHERE d.project_id = i.project_id AND d.message_id = i.message_id AND d.destination_id = i.destination_id LIMIT 1) o
    ON CONFLICT (project_id, message_id, destination_id) DO UPDATE SET status = coalesce(d.ended, 'canceled'),
      next_at = NULL, replay_id = NULL)
  SELECT (SELECT count(*) FROM waiting)::int AS taken FROM canceled`,
);
const endTo = statement(
  'replays_end_to',
  `UPDATE replay r SET status = 'canceled', reason = $3, updated_at = svc_now()
  WHERE r.project_id = $1 AND r.destination_id = $2 AND (r.status = 'queueing' OR (r.status = 'queued' AND r.queued > r.delivered + r.failed))`,
);
const subtract = statement(
  'replay_subtract',
  'UPDATE replay SET queued = queued - $3 WHERE project_id = $1 AND id = $2',
);

/** They are few: somebody asked for each. */
const forget = statement(
  'replays_forget',
  `DELETE FROM replay WHERE status <> 'queueing' AND created_at < svc_now() - $1 * interval '1 day'`,
);

/** Ends what goes to a destination that is deleted, and is not over. */
export async function endReplaysTo(tx: Queryable, projectId: string, destinationId: string): Promise<void> {
  await tx.rows(endTo, [projectId, destinationId, goneReason]);
}

/** Those that began before the oldest message that is kept. */
export async function forgetReplays(db: Queryable, keepDays: number): Promise<void> {
  await db.rows(forget, [keepDays]);
}

const itsColumns =
  'm.group_ref, m.object, m.raw_object, m.destination_id, m.installation_id, m.event_type, octet_length(m.body) > 0 AS has_body';
/** Nothing that the project does not want kept any more. */
const after = (id: string): string => `${id} > $2 AND ${id} >= svc_kept_from($1, 'messages')`;

/** Messages of a project in the order of their ids, by one index, whatever the filter leaves of them. */
const messagesWhere = (condition: string): string => `SELECT m.project_id, m.id, ${itsColumns} FROM message m
    WHERE m.project_id = $1 AND ${condition} AND ${after('m.id')} AND m.id < $3 ORDER BY m.id LIMIT $4`;

/** Those that ended badly are few, and have an index. One whose message is gone is looked at, too: it does not end a walk. */
const endedBadly = `SELECT d.project_id, d.message_id AS id, ${itsColumns} FROM (
      SELECT * FROM delivery d
      WHERE d.project_id = $1 AND d.status IN ('failed', 'canceled') AND d.status = $10 AND ($5::uuid IS NULL OR d.destination_id = $5)
        AND ${after('d.message_id')} AND d.message_id < $3 ORDER BY d.message_id LIMIT $4) d
    LEFT JOIN LATERAL (
      SELECT * FROM message m WHERE m.project_id = d.project_id AND m.id = d.message_id LIMIT 1) m ON true`;

const itsDelivery = (name: string, destination: string): string => `LEFT JOIN LATERAL (
      SELECT status FROM delivery d WHERE d.project_id = s.project_id AND d.message_id = s.id AND d.destination_id = ${destination}
      LIMIT 1) ${name} ON true`;

/**
 * What waits at the target for an attempt is on its way; at its own destination also what has no delivery yet. What ended badly
 * at several destinations is found once.
 */
const walkBy = (scan: string, answer: string): string => `WITH scanned AS MATERIALIZED (${scan}),
  found AS (
    SELECT DISTINCT s.id FROM scanned s
    ${itsDelivery('at', 'coalesce($5::uuid, s.destination_id)')}
    ${itsDelivery('there', '$6::uuid')}
    WHERE ($7::uuid IS NULL OR s.installation_id = $7) AND ($8::text IS NULL OR s.group_ref = $8)
      AND ($9::text IS NULL OR $9 IN (s.object, s.raw_object)) AND ($10::text IS NULL OR coalesce(at.status, 'pending') = $10)
      AND (s.event_type IS NULL OR NOT $11::boolean) AND s.has_body AND (at.status IS DISTINCT FROM 'delivered' OR (SELECT svc_keeps($1, 'messages')))
      AND ($5::uuid IS NULL OR s.destination_id = $5 OR at.status IS NOT NULL)
      AND CASE WHEN s.destination_id = $6 THEN coalesce(there.status, 'pending') ELSE coalesce(there.status, 'none') END <> 'pending')
  SELECT (SELECT id FROM scanned ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*) FROM scanned)::int AS scanned, ${answer}`;

const theIds = `(SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM found) AS ids`;
const theirNumber = '(SELECT count(*) FROM found)::int AS found';

const scans = {
  project: messagesWhere('true'),
  group: messagesWhere('m.group_ref = $8::text'),
  destination: messagesWhere('m.destination_id = $5::uuid'),
  installation: messagesWhere('m.installation_id = $7::uuid'),
  ended: endedBadly,
};
type Scan = keyof typeof scans;
const declared = (prefix: string, answer: string): Map<Scan, Statement> =>
  new Map(
    (Object.keys(scans) as Scan[]).map((scan) => [
      scan,
      statement(`${prefix}_${scan}`, walkBy(scans[scan], answer)),
    ]),
  );
const walks = declared('replay_walk', theIds);
const counts = declared('replay_count', theirNumber);

/** The filter with its destination resolved; `target`: where they are to go. */
export interface Slice {
  projectId: string;
  after: string;
  until: string;
  target: string;
  /** It takes messages of records, and none that tell of an event. */
  isRecordsOnly: boolean;
  destinationId?: string | undefined;
  installationId?: string | undefined;
  groupRef?: string | undefined;
  object?: string | undefined;
  status?: DeliveryStatus | undefined;
}

function scanOf({ status, installationId, destinationId, groupRef }: Slice): Scan {
  if (status === 'failed' || status === 'canceled') return 'ended';
  if (installationId !== undefined) return 'installation';
  if (destinationId !== undefined) return 'destination';
  return groupRef === undefined ? 'project' : 'group';
}

function valuesOf(slice: Slice, limit: number): unknown[] {
  return [
    slice.projectId,
    slice.after,
    slice.until,
    limit,
    slice.destinationId ?? null,
    slice.target,
    slice.installationId ?? null,
    slice.groupRef ?? null,
    slice.object ?? null,
    slice.status ?? null,
    slice.isRecordsOnly,
  ];
}

interface Walked {
  /** The last that was looked at; null when there was none. */
  last: string | null;
  /** How many were looked at. */
  scanned: number;
}

function pick(statements: Map<Scan, Statement>, slice: Slice): Statement {
  const found = statements.get(scanOf(slice));
  if (!found) throw new Error('every scan has a statement');
  return found;
}

/** The next messages that are to be sent, of so many that are looked at. */
export async function walk(db: Queryable, slice: Slice, limit: number): Promise<Walked & { ids: string[] }> {
  const [row] = await db.rows<Walked & { ids: string[] }>(pick(walks, slice), valuesOf(slice, limit));
  return row ?? { last: null, scanned: 0, ids: [] };
}

/** The same, only counted. */
export async function countNext(
  db: Queryable,
  slice: Slice,
  limit: number,
): Promise<Walked & { found: number }> {
  const [row] = await db.rows<Walked & { found: number }>(pick(counts, slice), valuesOf(slice, limit));
  return row ?? { last: null, scanned: 0, found: 0 };
}

export type NewReplay = Pick<
  ReplayRow,
  'project_id' | 'id' | 'destination_id' | 'filter' | 'place' | 'until'
>;

/** With the work of queueing it, in the lane of its destination. */
export async function insertReplay(
  tx: Queryable,
  { project_id, id, destination_id, filter, place, until }: NewReplay,
): Promise<void> {
  await tx.rows(insert, [
    project_id,
    id,
    destination_id,
    JSON.stringify(filter),
    place,
    until,
    currentTrace() ?? null,
  ]);
}

/** Newest first. */
export function listReplays(
  db: Queryable,
  projectId: string,
  beforeId: string,
  limit: number,
): Promise<ReplayRow[]> {
  return db.rows<ReplayRow>(list, [projectId, beforeId, limit]);
}

export async function findReplay(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ReplayRow | undefined> {
  return (await db.rows<ReplayRow>(find, [projectId, id]))[0];
}

/** Whether it was not canceled before. */
export async function cancelReplay(
  tx: Queryable,
  projectId: string,
  id: string,
  reason: string,
): Promise<boolean> {
  await tx.rows(lock, [projectId, id]);
  const [row] = await tx.rows<{ taken: number }>(cancel, [projectId, id, reason]);
  if (row && row.taken > 0) await tx.rows(subtract, [projectId, id, row.taken]);
  return row !== undefined;
}

/** `backlog`: how many deliveries of replays wait at its destination, counted to `most`. */
export async function loadReplays(
  db: Queryable,
  keys: readonly { projectId: string; ref: string }[],
  most: number,
): Promise<Map<number, ReplayRow & { backlog: number }>> {
  const rows = await db.rows<ReplayRow & { backlog: number; n: number }>(load, [
    keys.map(({ projectId }) => projectId),
    keys.map(({ ref }) => ref),
    most,
  ]);
  return new Map(rows.map(({ n, ...row }) => [n - 1, row]));
}

/**
 * A step: the messages it found become deliveries with work, its place moves on with them, and it goes back into its lane or is
 * done. The second half is due a moment later than the next step, so that the lane has something to send while that is made.
 * Nothing but the work row changes for a replay that was canceled meanwhile. One whose destination was deleted is canceled: a node
 * may remember that, and what had arrived there would end as canceled. The destination is held before the replay, as its deletion does.
 */
const record = statement(
  'replays_record',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::uuid[], $8::text[],
      $9::text[], $12::bigint[]) WITH ORDINALITY
      AS i(project_id, seq, lease, done, wait_ms, spent, place, status, reason, mark, n)),
  ${recordParts},
  stepped AS (SELECT n, project_id, lane_id AS destination_id FROM kept WHERE status IS NOT NULL),
  ${standing('stepped')},
  running AS MATERIALIZED (
    SELECT k.n, k.project_id, k.lane_id, k.place, k.status, k.reason, r.id, s.n IS NOT NULL AS has_destination FROM kept k
    LEFT JOIN standing s ON s.n = k.n
    JOIN replay r ON r.project_id = k.project_id AND r.id = k.ref
    WHERE k.status IS NOT NULL AND r.status = 'queueing' FOR UPDATE OF r),
  found AS MATERIALIZED (
    SELECT DISTINCT ON (u.project_id, u.lane_id, f.message_id) u.project_id, u.lane_id, u.id AS replay_id, f.message_id
    FROM unnest($10::bigint[], $11::uuid[]) AS f(n, message_id) JOIN running u ON u.n = f.n WHERE u.has_destination),
  sent AS (
    INSERT INTO delivery AS d (project_id, message_id, destination_id, status, attempts, first_at, last_at, next_at, replay_id)
    SELECT project_id, message_id, lane_id, 'pending', 0, now, now, now, replay_id FROM clock, found ORDER BY message_id
    ON CONFLICT (project_id, message_id, destination_id) DO UPDATE SET status = 'pending', next_at = excluded.next_at,
      replay_id = excluded.replay_id
    WHERE d.status <> 'pending'
    RETURNING d.project_id, d.message_id, d.destination_id, d.replay_id),
  ${queued(
    'delivery',
    `SELECT row_number() OVER (ORDER BY message_id) AS n, project_id, message_id AS ref, destination_id AS lane_id, ${priority} AS prio,
      now + (ntile(2) OVER (ORDER BY message_id) - 1) * interval '2 milliseconds' AS due_at, now + ${deadline} AS deadline,
      NULL::text AS trace
    FROM sent, clock`,
  )},
  moved AS (
    UPDATE replay r SET place = CASE WHEN u.has_destination THEN coalesce(u.place, r.place) ELSE r.place END,
      status = CASE WHEN u.has_destination THEN u.status ELSE 'canceled' END,
      reason = CASE WHEN u.has_destination THEN u.reason ELSE '${goneReason}' END, updated_at = now,
      queued = r.queued + (SELECT count(*) FROM sent s WHERE s.project_id = r.project_id AND s.replay_id = r.id)
    FROM clock, running u WHERE r.project_id = u.project_id AND r.id = u.id)
  SELECT n FROM kept`,
);

/** Answers for each, in order, whether its fence held. */
export async function recordReplays(db: Queryable, ends: readonly ReplayEnd[]): Promise<boolean[]> {
  const column = <T>(read: (end: ReplayEnd) => T): T[] => ends.map(read);
  const found = ends.flatMap(({ step }, at) => (step?.messages ?? []).map((id) => ({ n: at + 1, id })));
  const kept = await db.rows<{ n: string }>(record, [
    column((end) => end.projectId),
    column((end) => end.seq),
    column((end) => end.lease),
    column((end) => end.done),
    column((end) => end.waitMs),
    column((end) => end.spent),
    column(({ step }) => step?.place ?? null),
    column(({ step }) => step?.status ?? null),
    column(({ step }) => step?.reason ?? null),
    found.map(({ n }) => n),
    found.map(({ id }) => id),
    column((end) => end.mark),
  ]);
  const held = new Set(kept.map((row) => Number(row.n)));
  return ends.map((_, at) => held.has(at + 1));
}
