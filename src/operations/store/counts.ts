import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

// One statement moves what it deletes. The operations are locked in one order, so that two nodes do not wait for one another.
const fold = statement(
  'operations_count',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  taken AS (
    DELETE FROM operation_delta WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM operation_delta LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING *),
  summed AS MATERIALIZED (
    SELECT project_id, operation_id, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed
    FROM taken GROUP BY project_id, operation_id ORDER BY project_id, operation_id),
  counted AS MATERIALIZED (
    SELECT s.*, o.id FROM summed s CROSS JOIN LATERAL (
      SELECT id FROM operation o WHERE o.project_id = s.project_id AND o.id = s.operation_id LIMIT 1 FOR NO KEY UPDATE) o),
  operations AS (
    UPDATE operation o SET succeeded = o.succeeded + c.succeeded, failed = o.failed + c.failed, updated_at = now
    FROM clock, counted c WHERE o.project_id = c.project_id AND o.id = c.id),
  marks AS (
    INSERT INTO operation_mark (project_id, mark, operation_id)
    SELECT project_id, 'partlyDone', operation_id FROM counted WHERE failed > 0 ON CONFLICT DO NOTHING)
  SELECT count(*)::int AS moved FROM taken`,
);

/** Adds to operations what of their records arrived, or finally did not; answers how many rows it found. */
export async function foldCounts(db: Queryable, most: number): Promise<number> {
  const [row] = await db.rows<{ moved: number }>(fold, [most]);
  return row?.moved ?? 0;
}
