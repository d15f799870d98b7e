import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

const paused = statement(
  'reads_paused',
  `SELECT count(*)::int AS count FROM (
     SELECT DISTINCT installation_id, object FROM read_feed
     WHERE project_id = $1 AND paused IS NOT NULL AND paused <> 'removed' LIMIT $2) f`,
);

const failing = statement(
  'reads_failing',
  `SELECT count(*)::int AS count FROM (
     SELECT DISTINCT installation_id, object FROM read_feed
     WHERE project_id = $1 AND failures > 0 AND paused IS NULL AND schedule IS NOT NULL LIMIT $2) f`,
);

/** Reads whose last scheduled run failed, or the last one that compared their associations; counted to a bound. */
export async function countFailingReads(db: Queryable, projectId: string, most: number): Promise<number> {
  const [row] = await db.rows<{ count: number }>(failing, [projectId, most]);
  return row?.count ?? 0;
}

/** Reads that somebody paused, or their failures did; counted to a bound. */
export async function countPausedReads(db: Queryable, projectId: string, most: number): Promise<number> {
  const [row] = await db.rows<{ count: number }>(paused, [projectId, most]);
  return row?.count ?? 0;
}
