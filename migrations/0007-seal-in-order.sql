-- compatible: replaces a function by one with the same form.

-- Before, a full batch took an earlier one of its key with it that was still being filled: that one left with few records,
-- and what was on its way into it went into a later batch.
-- Seals what is due, or holds 100 records, in the lanes that the caller holds: the batch becomes work, an empty one
-- nothing. Whatever was inserted before the lock is counted after it, in a later snapshot; whatever comes after it finds
-- no batch. A batch never leaves before an earlier one of its key: a full one waits, for two seconds at most, until the one
-- before it is full or due. Answers with the lanes, once for each batch.
CREATE OR REPLACE FUNCTION svc_ab_seal(projects uuid[], lanes uuid[], leases uuid[])
RETURNS TABLE (lane_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := svc_now();
  held_projects uuid[];
  held_lanes uuid[];
  sealed_projects uuid[];
  sealed_ids uuid[];
  totals integer[];
BEGIN
  SELECT array_agg(l.project_id), array_agg(l.id) INTO held_projects, held_lanes FROM (
    SELECT l.project_id, l.id FROM unnest(projects, lanes, leases) AS i(project_id, id, lease)
    JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
    WHERE l.due_at > moment AND NOT l.paused ORDER BY l.project_id, l.id FOR KEY SHARE OF l) l;
  WITH open AS MATERIALIZED (
    SELECT b.project_id, b.lane_id, b.id, b.key, b.seq, b.close_at, b.handed_out FROM unnest(held_projects, held_lanes)
      AS h(project_id, lane_id)
    JOIN ab_batch b ON b.project_id = h.project_id AND b.lane_id = h.lane_id
      AND b.close_at <= moment + interval '2 seconds'
    ORDER BY b.seq LIMIT 200),
  judged AS (
    SELECT o.*, o.close_at <= moment OR (o.handed_out AND (
      SELECT count(*) FROM record r WHERE r.project_id = o.project_id AND r.operation_id = o.id) = 100) AS is_ready
    FROM open o),
  chosen AS MATERIALIZED (
    SELECT project_id, id FROM (
      SELECT j.*, bool_and(j.is_ready) OVER (PARTITION BY j.project_id, j.lane_id, j.key ORDER BY j.seq) AS may_leave
      FROM judged j) j
    WHERE may_leave),
  locked AS MATERIALIZED (
    SELECT b.project_id, b.id, b.seq FROM chosen c JOIN ab_batch b ON b.project_id = c.project_id AND b.id = c.id
    ORDER BY b.project_id, b.id FOR UPDATE OF b)
  SELECT array_agg(k.project_id ORDER BY k.seq), array_agg(k.id ORDER BY k.seq) INTO sealed_projects, sealed_ids
  FROM locked k;
  IF sealed_ids IS NULL THEN
    RETURN;
  END IF;
  SELECT array_agg(r.total ORDER BY i.n) INTO totals
  FROM unnest(sealed_projects, sealed_ids) WITH ORDINALITY AS i(project_id, id, n)
  CROSS JOIN LATERAL (
    SELECT count(*)::integer AS total FROM record r WHERE r.project_id = i.project_id AND r.operation_id = i.id) r;
  RETURN QUERY
  WITH gone AS MATERIALIZED (
    DELETE FROM ab_batch b USING unnest(sealed_projects, sealed_ids, totals) AS i(project_id, id, total)
    WHERE b.project_id = i.project_id AND b.id = i.id
    RETURNING b.project_id, b.id, b.seq, b.lane_id, b.prio, least(b.close_at, moment) AS closed_at, b.deadline_s, i.total),
  empty AS (
    DELETE FROM operation o USING gone g WHERE g.total = 0 AND o.project_id = g.project_id AND o.id = g.id),
  masters AS (
    UPDATE operation o SET total = g.total, updated_at = moment FROM gone g
    WHERE g.total > 0 AND o.project_id = g.project_id AND o.id = g.id RETURNING o.id, o.action_type),
  works AS (
    INSERT INTO work (project_id, operation_id, lane_id, kind, prio, due_at, deadline, ordered)
    SELECT g.project_id, g.id, g.lane_id, m.action_type, g.prio, moment, g.closed_at + g.deadline_s * interval '1 second',
      EXISTS (SELECT FROM record r WHERE r.project_id = g.project_id AND r.operation_id = g.id AND r.order_key IS NOT NULL)
    FROM gone g JOIN masters m ON m.id = g.id ORDER BY g.seq
    RETURNING project_id, operation_id, seq),
  turns AS (
    INSERT INTO turn (project_id, order_key, seq)
    SELECT DISTINCT w.project_id, r.order_key, w.seq
    FROM works w JOIN record r ON r.project_id = w.project_id AND r.operation_id = w.operation_id
    WHERE r.order_key IS NOT NULL)
  SELECT g.lane_id FROM gone g;
END $$;
