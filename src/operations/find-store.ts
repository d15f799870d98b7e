import { branch, type Found, type Reach, type Sought } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { formsOfId } from '../providers/index.ts';
import { isKept } from './store/read.ts';

// The group is looked at behind the walk by ids: an id of another group is as if it were not.
const found = (name: string, operations: string): string =>
  branch(`SELECT 'operation' AS type, o.id::text, ${name} AS name, n.group_ref AS "groupRef", o.integration_id::text AS "integrationId",
     o.installation_id::text AS "installationId", o.id::text AS "operationId"
   FROM (${operations} ORDER BY o.id DESC LIMIT 100) o
   LEFT JOIN LATERAL (
     SELECT group_ref FROM installation n WHERE n.project_id = $1 AND n.id = o.installation_id LIMIT 1) n ON true
   WHERE $2::text IS NULL OR n.group_ref = $2 ORDER BY o.id DESC`);

const byId = statement(
  'operations_find_any',
  found(
    'o.resource',
    `SELECT o.* FROM operation o WHERE o.project_id = $1 AND o.id BETWEEN $3 AND $4 AND ${isKept}`,
  ),
);

// Step by step: as a join, it walks all operations where the planner takes them for the shorter way to the newest.
const byRecord = statement(
  'operations_find_by_record',
  found(
    `o.resource || ' ' || $3::text`,
    `SELECT o.* FROM (
       SELECT DISTINCT w.operation_id FROM unnest($4::text[]) AS id CROSS JOIN LATERAL (
         SELECT operation_id FROM written_record w WHERE w.project_id = $1 AND w.hash = svc_record_hash(id)
         ORDER BY w.operation_id DESC LIMIT 100) w
       ORDER BY operation_id DESC LIMIT 100) w
     CROSS JOIN LATERAL (SELECT * FROM operation o WHERE o.project_id = $1 AND o.id = w.operation_id AND ${isKept} LIMIT 1) o`,
  ),
);

/** By their ids, and by the provider's ids of the records that they wrote or were to write. */
export async function findOperations(db: Queryable, reach: Reach, { range, text }: Sought): Promise<Found[]> {
  const common = [reach.projectId, reach.groupRef ?? null];
  const lists = await Promise.all([
    range ? db.rows<Found>(byId, [...common, range.from, range.to]) : [],
    db.rows<Found>(byRecord, [...common, text, formsOfId(text)]),
  ]);
  return lists.flat();
}

const marked = statement(
  'operations_count_marked',
  `SELECT count(*)::int AS count FROM (
     SELECT FROM operation_mark WHERE project_id = $1 AND mark = $2
       AND operation_id >= greatest(svc_uuid_floor(svc_now() - $3 * interval '1 day'), svc_kept_from($1, 'operations'))
     LIMIT $4) m`,
);

/** Operations of late that did not go well, by status or category; counted to a bound. */
export async function countMarked(
  db: Queryable,
  projectId: string,
  { mark, days, most }: { mark: string; days: number; most: number },
): Promise<number> {
  const [row] = await db.rows<{ count: number }>(marked, [projectId, mark, days, most]);
  return row?.count ?? 0;
}

/** What is under way is looked at from the oldest on. */
const mostLookedAt = 1_000;

const oldest = statement(
  'operations_oldest_queued',
  `WITH looked AS MATERIALIZED (
     SELECT seq, ref, kind = 'write' AND state <> 1 AS waits FROM work WHERE project_id = $1 ORDER BY seq LIMIT ${mostLookedAt})
   SELECT w.ref AS "operationId", (extract(epoch FROM svc_now() - svc_uuid_moment(w.ref)))::float8 AS seconds, c.*
   FROM looked w CROSS JOIN (
     SELECT (count(*) FILTER (WHERE waits))::int AS count, count(*) < ${mostLookedAt} AS "countIsComplete" FROM looked) c
   WHERE w.waits ORDER BY w.seq LIMIT 1`,
);

interface OldestQueued {
  operationId: string;
  seconds: number;
  /** How many wait, of what is under way as far as it is looked at. */
  count: number;
  countIsComplete: boolean;
}

/** The write that waits for the longest time, and how many wait. */
export async function oldestQueued(db: Queryable, projectId: string): Promise<OldestQueued | undefined> {
  const [row] = await db.rows<OldestQueued>(oldest, [projectId]);
  return row && { ...row, seconds: Math.max(0, row.seconds) };
}
