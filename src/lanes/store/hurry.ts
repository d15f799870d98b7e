import type { Database, Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { newId } from '../../kit/ids.ts';
import type { End, Marked } from '../kind.ts';
import { priorities } from './lanes.ts';
import { recordParts } from './record-parts.ts';

/** Items of each priority that one statement makes due: a tenth of a second, or a few where the database is busy. */
const portion = 2_000;
/** In one statement those of so many lanes are held: until it ends nothing else wakes or renews any. */
const hurriedAtOnce = 100;

/** As it stands in the work rows. */
export const hurryName = 'hurry';

/**
 * Of a lane, what waits for a time, those that wait longest first; `most` of each priority, so that an index has them in this order.
 * What is being taken is on its way anyhow.
 */
const waiting = (project: string, lane: string, most: string, condition = 'true'): string =>
  `${priorities} CROSS JOIN LATERAL (
      SELECT w.project_id, w.seq, w.due_at FROM work w
      WHERE w.project_id = ${project} AND w.lane_id = ${lane} AND w.state = 0 AND w.prio = p.prio AND w.due_at > svc_now() AND ${condition}
      ORDER BY w.due_at DESC LIMIT ${most} FOR UPDATE SKIP LOCKED) w`;

const hurried = `hurried AS (
    UPDATE work w SET due_at = svc_now() FROM waiting i WHERE w.project_id = i.project_id AND w.seq = i.seq)`;

/** Where there may be more: what waits longer than until then was made due. */
const more = (most: string): string => `more AS (
    SELECT lane_id, max(until) AS until FROM (
      SELECT lane_id, min(due_at) AS until FROM waiting GROUP BY lane_id, prio HAVING count(*) = ${most}) p
    GROUP BY lane_id)`;

/**
 * Makes a portion due; where there is more, work in the lane goes on with it. The deadline of that work is the time until which the rest
 * waits: once it is over, the rest is due by itself. The lanes in order, so that two of these do not wait for one another.
 */
const hurryLanes = statement(
  'lanes_hurry',
  `WITH held AS MATERIALIZED (
    SELECT project_id, id FROM lane WHERE project_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE),
  waiting AS MATERIALIZED (
    SELECT i.id AS lane_id, p.prio, w.* FROM unnest($2::uuid[]) AS i(id) CROSS JOIN ${waiting('$1', 'i.id', '$3')}),
  ${hurried},
  ${more('$3')},
  goes_on AS (
    INSERT INTO work (project_id, ref, lane_id, kind, due_at, deadline)
    SELECT $1, $4, lane_id, '${hurryName}', svc_now(), until FROM more)
  UPDATE lane l SET not_before = '-infinity', wakes = l.wakes + 1,
    due_at = CASE WHEN l.lease IS NOT NULL OR l.paused THEN l.due_at ELSE svc_now() END
  FROM held h WHERE l.project_id = h.project_id AND l.id = h.id`,
);

/** The next portion and the place of the work that goes on with it, while that is held under its lease. */
const hurryNext = statement(
  'lane_hurry_next',
  `WITH own AS MATERIALIZED (
    SELECT project_id, seq, lane_id, deadline FROM work WHERE project_id = $1 AND seq = $2 AND lease = $3 FOR UPDATE),
  waiting AS MATERIALIZED (
    SELECT o.lane_id, p.prio, w.* FROM own o CROSS JOIN ${waiting('o.project_id', 'o.lane_id', '$4', 'w.due_at <= o.deadline')}),
  ${hurried},
  ${more('$4')},
  moved AS (UPDATE work w SET deadline = m.until FROM own o, more m WHERE w.project_id = o.project_id AND w.seq = o.seq)
  SELECT until FROM more`,
);

const recordHurries = statement(
  'lane_hurry_record',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::boolean[], $6::float8[], $7::boolean[])
      WITH ORDINALITY AS i(project_id, seq, lease, mark, done, wait_ms, spent, n)),
  ${recordParts}
  SELECT n::int AS n FROM kept`,
);

const hurryRefs = statement(
  'lane_hurry_refs',
  `WITH waiting AS MATERIALIZED (
    SELECT project_id, seq FROM work
    WHERE project_id = $1 AND lane_id = $2 AND ref = ANY ($3::uuid[]) AND state = 0 AND due_at > svc_now()
    ORDER BY seq FOR UPDATE SKIP LOCKED),
  ${hurried}
  UPDATE lane l SET wakes = l.wakes + 1,
    due_at = CASE WHEN l.lease IS NOT NULL OR l.paused THEN l.due_at ELSE svc_now() END
  WHERE l.project_id = $1 AND l.id = $2 AND EXISTS (SELECT FROM waiting) RETURNING l.id`,
);

/** What waits in the lane for a time is due now; of very much, the rest in a while. */
export async function hurry(db: Queryable, projectId: string, laneId: string): Promise<void> {
  await hurrySome(db, projectId, [laneId]);
}

/** The same for many, each group of them in a commit of its own. */
export async function hurryAll(db: Database, projectId: string, laneIds: readonly string[]): Promise<void> {
  for (let from = 0; from < laneIds.length; from += hurriedAtOnce)
    await hurrySome(db, projectId, laneIds.slice(from, from + hurriedAtOnce));
}

async function hurrySome(db: Queryable, projectId: string, laneIds: readonly string[]): Promise<void> {
  await db.rows(hurryLanes, [projectId, laneIds, Math.ceil(portion / laneIds.length), newId()]);
}

/** Goes on with it by the work that does so. Answers whether there may be more. */
export async function hurryMore(
  db: Queryable,
  { projectId, seq, lease }: Pick<Marked, 'projectId' | 'seq' | 'lease'>,
): Promise<boolean> {
  return (await db.rows(hurryNext, [projectId, seq, lease, portion])).length > 0;
}

/** Answers for each, in order, whether its fence held. */
export async function recordEnds(db: Queryable, ends: readonly End[]): Promise<boolean[]> {
  const column = <T>(read: (end: End) => T): T[] => ends.map(read);
  const kept = await db.rows<{ n: number }>(recordHurries, [
    column((end) => end.projectId),
    column((end) => end.seq),
    column((end) => end.lease),
    column((end) => end.mark),
    column((end) => end.done),
    column((end) => end.waitMs),
    column((end) => end.spent),
  ]);
  const held = new Set(kept.map(({ n }) => n));
  return ends.map((_, at) => held.has(at + 1));
}

/** Of what waits in the lane for a time, the work on these is due now. Answers whether there is any. */
export async function hurryWork(
  db: Queryable,
  { projectId, laneId }: { projectId: string; laneId: string },
  refs: readonly string[],
): Promise<boolean> {
  return (await db.rows(hurryRefs, [projectId, laneId, refs])).length > 0;
}
