import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

const paused = statement(
  'reads_paused',
  `SELECT count(*)::int AS count FROM (
     SELECT DISTINCT installation_id, object FROM read_feed
     WHERE project_id = $1 AND paused IS NOT NULL AND paused <> 'removed' LIMIT $2) f`,
);

/** Reads that somebody paused, or their failures did; counted to a bound. */
export async function countPausedReads(db: Queryable, projectId: string, most: number): Promise<number> {
  const [row] = await db.rows<{ count: number }>(paused, [projectId, most]);
  return row?.count ?? 0;
}
