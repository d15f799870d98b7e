-- Hands out places for each of the requests, which stand in the order of their keys, so that callers lock the heads in one
-- order. A batch holds `batch_size` records. Of a request: `delays` and `deadlines` have one element for each place that it wants,
-- `spare_ids` the ids of batches that it may open; `missed`: a place of this key was missed, so the head's batch may be gone.
-- Commits without the flush: the insert that depends on it flushes this, too; a place that a crash takes back was nobody's.
CREATE OR REPLACE FUNCTION svc_ab_take(requests json, batch_size integer)
RETURNS TABLE (n integer, batch_id uuid, first_slot integer, places integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := svc_now();
  asked record;
  head_batch uuid;
  head_taken integer;
  head_close timestamptz;
  wanted integer;
  opened integer;
  done integer;
  full_projects uuid[] := '{}';
  full_batches uuid[] := '{}';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR asked IN SELECT * FROM ROWS FROM (json_to_recordset(requests) AS (project_id uuid, key uuid, missed boolean, lane_id uuid,
      integration_id uuid, installation_id uuid, config_id uuid, action_type text, resource text, request json, prio smallint,
      spare_ids uuid[], delays double precision[], deadlines double precision[])) WITH ORDINALITY AS r(project_id, key, missed,
      lane_id, integration_id, installation_id, config_id, action_type, resource, request, prio, spare_ids, delays, deadlines, n)
    ORDER BY r.n
  LOOP
    LOOP
      SELECT h.batch_id, h.taken, h.close_at INTO head_batch, head_taken, head_close FROM ab_head h
        WHERE h.project_id = asked.project_id AND h.key = asked.key FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO ab_head (project_id, key, taken, close_at) VALUES (asked.project_id, asked.key, batch_size, '-infinity')
        ON CONFLICT DO NOTHING;
    END LOOP;
    IF asked.missed AND NOT EXISTS (
      SELECT FROM ab_batch b WHERE b.project_id = asked.project_id AND b.id = head_batch) THEN
      head_taken := batch_size;
    END IF;
    wanted := cardinality(asked.delays);
    opened := 0;
    done := 0;
    WHILE wanted > 0 LOOP
      IF head_taken >= batch_size OR head_close <= moment THEN
        IF head_taken < batch_size THEN
          full_projects := full_projects || asked.project_id;
          full_batches := full_batches || head_batch;
        END IF;
        opened := opened + 1;
        head_batch := asked.spare_ids[opened];
        head_taken := 0;
        head_close := moment + asked.delays[done + 1] * interval '1 second';
        INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource,
          status, total, created_at, updated_at)
        VALUES (asked.project_id, head_batch, asked.integration_id, asked.installation_id, asked.config_id, asked.action_type,
          asked.request, asked.resource, 'in_progress', 0, moment, moment);
        INSERT INTO ab_batch (project_id, id, key, lane_id, prio, close_at, latest_at, deadline_s)
        VALUES (asked.project_id, head_batch, asked.key, asked.lane_id, asked.prio,
          least(head_close, moment + interval '10 seconds'), head_close, asked.deadlines[done + 1]);
        INSERT INTO wake (project_id, lane_id, due_at)
        VALUES (asked.project_id, asked.lane_id, moment + interval '10 seconds');
      END IF;
      n := asked.n;
      batch_id := head_batch;
      first_slot := head_taken;
      places := least(wanted, batch_size - head_taken);
      RETURN NEXT;
      wanted := wanted - places;
      done := done + places;
      head_taken := head_taken + places;
      IF head_taken = batch_size THEN
        full_projects := full_projects || asked.project_id;
        full_batches := full_batches || head_batch;
      END IF;
    END LOOP;
    UPDATE ab_head h SET batch_id = head_batch, taken = head_taken, close_at = head_close
      WHERE h.project_id = asked.project_id AND h.key = asked.key;
  END LOOP;
  IF cardinality(full_batches) > 0 THEN
    UPDATE ab_batch b SET handed_out = true, close_at = least(b.close_at, moment + interval '2 seconds')
    FROM (SELECT f.project_id, f.id FROM unnest(full_projects, full_batches) AS i(project_id, id)
      JOIN ab_batch f ON f.project_id = i.project_id AND f.id = i.id
      ORDER BY f.project_id, f.id FOR NO KEY UPDATE OF f) f
    WHERE b.project_id = f.project_id AND b.id = f.id;
  END IF;
END $$;

-- When the nth of the batches that leave at one moment left: later than the one before it.
CREATE OR REPLACE FUNCTION svc_ab_left(moment timestamptz, n bigint) RETURNS timestamptz LANGUAGE sql STABLE
RETURN moment + (n - 1) * interval '1 microsecond';

-- Makes batches work that the caller has locked, in the order of the arrays; an empty one becomes nothing. What stands
-- behind an earlier write of one of its records is parked, as an acceptance does it. Answers with the lanes.
CREATE OR REPLACE FUNCTION svc_ab_leave(moment timestamptz, projects uuid[], ids uuid[])
RETURNS TABLE (lane_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  totals integer[];
BEGIN
  SELECT array_agg(r.total ORDER BY i.n) INTO totals
  FROM unnest(projects, ids) WITH ORDINALITY AS i(project_id, id, n)
  CROSS JOIN LATERAL (
    SELECT count(*)::integer AS total FROM record r WHERE r.project_id = i.project_id AND r.operation_id = i.id) r;
  RETURN QUERY
  WITH gone AS MATERIALIZED (
    DELETE FROM ab_batch b USING unnest(projects, ids, totals) WITH ORDINALITY AS i(project_id, id, total, n)
    WHERE b.project_id = i.project_id AND b.id = i.id
    RETURNING b.project_id, b.id, b.seq, b.lane_id, b.prio, least(b.close_at, moment) AS closed_at, b.deadline_s, i.total,
      svc_ab_left(moment, i.n) AS left_at),
  empty AS (
    DELETE FROM operation o USING gone g WHERE g.total = 0 AND o.project_id = g.project_id AND o.id = g.id),
  masters AS (
    UPDATE operation o SET total = g.total, left_at = g.left_at, updated_at = moment FROM gone g
    WHERE g.total > 0 AND o.project_id = g.project_id AND o.id = g.id RETURNING o.id, o.action_type),
  members AS MATERIALIZED (
    SELECT DISTINCT g.project_id, g.id, g.seq, r.order_key AS stored_key,
      CASE WHEN r.order_key LIKE '%/%' THEN svc_turn_key(r.order_key) ELSE r.order_key END AS order_key
    FROM gone g JOIN record r ON r.project_id = g.project_id AND r.operation_id = g.id
    WHERE g.total > 0 AND r.order_key IS NOT NULL),
  freed AS (
    DELETE FROM ab_turn t USING members m
    WHERE t.project_id = m.project_id AND t.order_key = m.stored_key AND t.batch_id = m.id),
  behind AS MATERIALIZED (
    SELECT id FROM (
      SELECT m.id FROM members m CROSS JOIN LATERAL (
        SELECT e.seq FROM turn e WHERE e.project_id = m.project_id AND e.order_key = m.order_key
        ORDER BY e.seq DESC LIMIT 1 FOR KEY SHARE OF e SKIP LOCKED) e) standing
    UNION
    SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY project_id, order_key ORDER BY seq) AS place FROM members) m
    WHERE place > 1),
  works AS (
    INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline, state, ordered)
    SELECT g.project_id, g.id, g.lane_id, m.action_type, g.prio, moment, g.closed_at + g.deadline_s * interval '1 second',
      CASE WHEN g.id IN (SELECT id FROM behind) THEN 2 ELSE 0 END, g.id IN (SELECT id FROM members)
    FROM gone g JOIN masters m ON m.id = g.id ORDER BY g.seq
    RETURNING project_id, ref, seq),
  turns AS (
    INSERT INTO turn (project_id, order_key, seq)
    SELECT DISTINCT w.project_id, m.order_key, w.seq FROM works w JOIN members m ON m.id = w.ref)
  SELECT g.lane_id FROM gone g;
END $$;

-- Ends a batch that cannot become work, since nothing may stand in the way of its connection for ever. Nothing was sent.
CREATE OR REPLACE FUNCTION svc_ab_refuse(moment timestamptz, project uuid, batch uuid, reason text) RETURNS uuid LANGUAGE plpgsql
SET enable_seqscan = off SET jit = off AS $$
DECLARE
  failure json := json_build_object('category', 'internal', 'retryable', true,
    'message', 'nothing was sent: the batch could not be made ready: ' || reason);
  refused integer;
  lane uuid;
BEGIN
  UPDATE record r SET outcome = json_build_object('kind', 'notApplied', 'failure', failure)
    WHERE r.project_id = project AND r.operation_id = batch;
  GET DIAGNOSTICS refused = ROW_COUNT;
  UPDATE operation o SET status = 'failure', result = '[' || o.resource || '] ' || (failure->>'message'), total = refused,
    failed = refused, left_at = moment, updated_at = moment, errors = (
      SELECT json_agg(json_build_object('index', r.slot, 'category', 'internal', 'retryable', true,
        'message', failure->>'message') ORDER BY r.slot)
      FROM record r WHERE r.project_id = project AND r.operation_id = batch)
    WHERE o.project_id = project AND o.id = batch;
  INSERT INTO operation_mark (project_id, mark, operation_id)
    SELECT project, mark, batch FROM unnest(ARRAY['failure', 'internal']) AS mark;
  INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
    VALUES (project, batch, batch, 'error', json_build_object('msg', failure->>'message', 'operation_id', batch,
      'details', json_build_object()), moment);
  DELETE FROM ab_turn t USING record r
    WHERE r.project_id = project AND r.operation_id = batch AND t.project_id = project AND t.order_key = r.order_key
      AND t.batch_id = batch;
  DELETE FROM ab_batch b WHERE b.project_id = project AND b.id = batch RETURNING b.lane_id INTO lane;
  RETURN lane;
END $$;

-- The same as svc_ab_leave; what PostgreSQL refuses for what a batch holds (classes 22, 23, 54) ends that batch alone.
CREATE OR REPLACE FUNCTION svc_ab_leave_or_end(moment timestamptz, projects uuid[], ids uuid[])
RETURNS TABLE (lane_id uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  BEGIN
    RETURN QUERY SELECT l.lane_id FROM svc_ab_leave(moment, projects, ids) l;
    RETURN;
  EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
    NULL;
  END;
  FOR n IN 1 .. cardinality(ids) LOOP
    BEGIN
      RETURN QUERY SELECT l.lane_id FROM svc_ab_leave(svc_ab_left(moment, n), projects[n:n], ids[n:n]) l;
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
      lane_id := svc_ab_refuse(svc_ab_left(moment, n), projects[n], ids[n], SQLERRM);
      RETURN NEXT;
    END;
  END LOOP;
END $$;

-- Seals what is due, or holds `batch_size` records, in the lanes that the caller holds: the batch becomes work, an empty one
-- nothing. Whatever was inserted before the lock is counted after it, in a later snapshot; whatever comes after it finds
-- no batch. A batch never leaves before an earlier one of its key: a full one waits, for two seconds at most, until the one
-- before it is full or due. Answers with the lanes, once for each batch.
CREATE OR REPLACE FUNCTION svc_ab_seal(projects uuid[], lanes uuid[], leases uuid[], batch_size integer)
RETURNS TABLE (lane_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := svc_now();
  held_projects uuid[];
  held_lanes uuid[];
  sealed_projects uuid[];
  sealed_ids uuid[];
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
      SELECT count(*) FROM record r WHERE r.project_id = o.project_id AND r.operation_id = o.id) = batch_size) AS is_ready
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
  IF sealed_ids IS NOT NULL THEN
    RETURN QUERY SELECT l.lane_id FROM svc_ab_leave_or_end(moment, sealed_projects, sealed_ids) l;
  END IF;
END $$;

-- Lets the open batches leave now in which one of the records stands under another batch key, and what is before them of
-- their key. Commits without the flush: the record that comes after them flushes this, too.
CREATE OR REPLACE FUNCTION svc_ab_close_others(projects uuid[], order_keys text[], keys uuid[])
RETURNS TABLE (lane_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := svc_now();
  found_projects uuid[];
  found_ids uuid[];
  sealed_projects uuid[];
  sealed_ids uuid[];
BEGIN
  SELECT array_agg(f.project_id), array_agg(f.id) INTO found_projects, found_ids FROM (
    SELECT DISTINCT b.project_id, b.id FROM unnest(projects, order_keys, keys) AS i(project_id, order_key, key)
    JOIN ab_turn t ON t.project_id = i.project_id AND t.order_key = i.order_key
    JOIN ab_batch o ON o.project_id = t.project_id AND o.id = t.batch_id AND o.key <> i.key
    JOIN ab_batch b ON b.project_id = o.project_id AND b.lane_id = o.lane_id AND b.key = o.key AND b.seq <= o.seq) f;
  IF found_ids IS NULL THEN
    RETURN;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  WITH locked AS MATERIALIZED (
    SELECT b.project_id, b.id, b.seq FROM unnest(found_projects, found_ids) AS f(project_id, id)
    JOIN ab_batch b ON b.project_id = f.project_id AND b.id = f.id
    ORDER BY b.project_id, b.id FOR UPDATE OF b)
  SELECT array_agg(k.project_id ORDER BY k.seq), array_agg(k.id ORDER BY k.seq) INTO sealed_projects, sealed_ids
  FROM locked k;
  IF sealed_ids IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO wake (project_id, lane_id, due_at)
    SELECT DISTINCT b.project_id, b.lane_id, moment FROM unnest(sealed_projects, sealed_ids) AS s(project_id, id)
    JOIN ab_batch b ON b.project_id = s.project_id AND b.id = s.id;
  RETURN QUERY SELECT l.lane_id FROM svc_ab_leave_or_end(moment, sealed_projects, sealed_ids) l;
END $$;

SELECT svc_ballast('ab_head'), svc_ballast('ab_batch'), svc_ballast('ab_turn');
