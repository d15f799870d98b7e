-- compatible: adds tables and functions, and columns that may be NULL.

-- Of an auto-batched record: whose place it is (a commit whose answer was lost is looked for by it), and the key under
-- which it takes its turn once its batch is sealed.
ALTER TABLE record ADD COLUMN entry uuid, ADD COLUMN order_key text;

-- Where the next record of a key goes: `taken` places of the batch are handed out. Updated for every group of records.
CREATE TABLE ab_head (
  project_id uuid NOT NULL,
  key uuid NOT NULL,
  batch_id uuid,
  taken integer NOT NULL,
  -- Of the batch's first record; from then on the key needs another batch.
  close_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, key)
) WITH (fillfactor = 20);

-- The open batches; the id is that of the master operation. Sealing a batch deletes its row, so that it never opens again.
CREATE TABLE ab_batch (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The order in which the batches of a key were opened.
  seq bigint GENERATED ALWAYS AS IDENTITY,
  key uuid NOT NULL,
  lane_id uuid NOT NULL,
  prio smallint NOT NULL,
  -- When it leaves whatever it holds: 10 s after it was opened until its first record is in, then `latest_at`; 2 s after
  -- its last place was handed out, so that places whose takers died hold up nobody.
  close_at timestamptz NOT NULL,
  -- The time of the first record plus that record's delay.
  latest_at timestamptz NOT NULL,
  handed_out boolean NOT NULL DEFAULT false,
  deadline_s double precision NOT NULL,
  PRIMARY KEY (project_id, id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX ab_batch_lane ON ab_batch (project_id, lane_id, close_at);
CREATE INDEX ab_batch_close ON ab_batch (close_at);

-- Ballast for the planner, as in migration 2.
INSERT INTO ab_head (project_id, key, taken, close_at)
  SELECT '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 100, 'infinity' FROM generate_series(1, 5000);
INSERT INTO ab_batch (project_id, id, key, lane_id, prio, close_at, latest_at, deadline_s)
  SELECT project_id, gen_random_uuid(), key, gen_random_uuid(), 1, 'infinity', 'infinity', 0 FROM ab_head;

-- Hands out `counts[n]` places for each key (work.md, "Auto-batch without serialising", 1). Keys stand in their order, so
-- that callers lock the heads in one order. `delays` and `deadlines` have one element for each place, key after key;
-- `spare` two ids for each key. `checked`: a place of this key was missed, so the head's batch may be gone.
-- Commits without the flush: the insert that depends on it flushes this, too; a place that a crash takes back was nobody's.
CREATE FUNCTION svc_ab_take(projects uuid[], keys uuid[], counts integer[], checked boolean[], lanes uuid[],
  integrations uuid[], installations uuid[], configs uuid[], actions text[], resources text[], requests json[],
  prios smallint[], spare uuid[], delays double precision[], deadlines double precision[])
RETURNS TABLE (n integer, batch_id uuid, first_slot integer, places integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := svc_now();
  head_batch uuid;
  head_taken integer;
  head_close timestamptz;
  wanted integer;
  opened integer;
  done integer := 0;
  full_projects uuid[] := '{}';
  full_batches uuid[] := '{}';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR k IN 1 .. cardinality(keys) LOOP
    LOOP
      SELECT h.batch_id, h.taken, h.close_at INTO head_batch, head_taken, head_close FROM ab_head h
        WHERE h.project_id = projects[k] AND h.key = keys[k] FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO ab_head (project_id, key, taken, close_at) VALUES (projects[k], keys[k], 100, '-infinity')
        ON CONFLICT DO NOTHING;
    END LOOP;
    IF checked[k] AND NOT EXISTS (SELECT FROM ab_batch b WHERE b.project_id = projects[k] AND b.id = head_batch) THEN
      head_taken := 100;
    END IF;
    wanted := counts[k];
    opened := 0;
    WHILE wanted > 0 LOOP
      IF head_taken >= 100 OR head_close <= moment THEN
        IF head_taken < 100 THEN
          full_projects := full_projects || projects[k];
          full_batches := full_batches || head_batch;
        END IF;
        opened := opened + 1;
        head_batch := spare[k * 2 - 2 + opened];
        head_taken := 0;
        head_close := moment + delays[done + 1] * interval '1 second';
        INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource,
          status, total, created_at, updated_at)
        VALUES (projects[k], head_batch, integrations[k], installations[k], configs[k], actions[k], requests[k],
          resources[k], 'in_progress', 0, moment, moment);
        INSERT INTO ab_batch (project_id, id, key, lane_id, prio, close_at, latest_at, deadline_s)
        VALUES (projects[k], head_batch, keys[k], lanes[k], prios[k], least(head_close, moment + interval '10 seconds'),
          head_close, deadlines[done + 1]);
        INSERT INTO wake (project_id, lane_id, due_at) VALUES (projects[k], lanes[k], moment + interval '10 seconds');
      END IF;
      n := k;
      batch_id := head_batch;
      first_slot := head_taken;
      places := least(wanted, 100 - head_taken);
      RETURN NEXT;
      wanted := wanted - places;
      done := done + places;
      head_taken := head_taken + places;
      IF head_taken = 100 THEN
        full_projects := full_projects || projects[k];
        full_batches := full_batches || head_batch;
      END IF;
    END LOOP;
    UPDATE ab_head h SET batch_id = head_batch, taken = head_taken, close_at = head_close
      WHERE h.project_id = projects[k] AND h.key = keys[k];
  END LOOP;
  IF cardinality(full_batches) > 0 THEN
    UPDATE ab_batch b SET handed_out = true, close_at = least(b.close_at, moment + interval '2 seconds')
    FROM (SELECT f.project_id, f.id FROM unnest(full_projects, full_batches) AS i(project_id, id)
      JOIN ab_batch f ON f.project_id = i.project_id AND f.id = i.id
      ORDER BY f.project_id, f.id FOR NO KEY UPDATE OF f) f
    WHERE b.project_id = f.project_id AND b.id = f.id;
  END IF;
END $$;

-- Seals what is due, or holds 100 records, in the lanes that the caller holds: the batch becomes work, an empty one
-- nothing. Whatever was inserted before the lock is counted after it, in a later snapshot; whatever comes after it finds
-- no batch. A batch never leaves before an earlier one of its key. Answers with the lanes, once for each batch.
CREATE FUNCTION svc_ab_seal(projects uuid[], lanes uuid[], leases uuid[])
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
  ready AS (
    SELECT o.project_id, o.lane_id, o.key, max(o.seq) AS seq FROM open o
    WHERE o.close_at <= moment OR (o.handed_out AND (
      SELECT count(*) FROM record r WHERE r.project_id = o.project_id AND r.operation_id = o.id) = 100)
    GROUP BY o.project_id, o.lane_id, o.key),
  chosen AS MATERIALIZED (
    SELECT o.project_id, o.id FROM open o
    JOIN ready y ON y.project_id = o.project_id AND y.lane_id = o.lane_id AND y.key = o.key AND o.seq <= y.seq),
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
