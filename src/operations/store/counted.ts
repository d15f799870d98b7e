/**
 * CTEs of another room's statement that add to the counts of operations when their records reach, or finally miss, where they
 * were to go. `source` names a CTE with project_id, operation_id, succeeded and failed, once for each operation; the rows are
 * locked in one order, so that two such statements do not wait for one another. The statement has a CTE `clock(now)`.
 */
export const countParts = (source: string): string => `counted AS MATERIALIZED (
    SELECT s.*, o.id FROM (SELECT * FROM ${source} ORDER BY project_id, operation_id) s CROSS JOIN LATERAL (
      SELECT id FROM operation o WHERE o.project_id = s.project_id AND o.id = s.operation_id LIMIT 1 FOR NO KEY UPDATE) o),
  counted_operations AS (
    UPDATE operation o SET succeeded = o.succeeded + c.succeeded, failed = o.failed + c.failed, updated_at = now
    FROM clock, counted c WHERE o.project_id = c.project_id AND o.id = c.id)`;
