-- A turn is taken under a hash of what the record is known by: a long id was too much for the index, and failed everybody
-- whose row stood in the same statement.
CREATE OR REPLACE FUNCTION svc_turn_key(order_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(order_key, 'UTF8')), 'hex'), 32)
$$;

-- Which of the records have a turn already. Until the commit another caller waits for a record of this one, and sees its turn then: the
-- look has a snapshot of after the lock. All records share 2,048 locks, since the lock table of the database is small.
CREATE OR REPLACE FUNCTION svc_hold_turns(projects uuid[], order_keys text[])
RETURNS TABLE (project_id uuid, order_key text) LANGUAGE plpgsql STRICT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('svc_hold_turns'), place) FROM (
    SELECT DISTINCT hashtext(i.project_id || i.order_key) & 2047 AS place
    FROM unnest(projects, order_keys) AS i(project_id, order_key) ORDER BY 1) held;
  RETURN QUERY SELECT i.project_id, i.order_key FROM unnest(projects, order_keys) AS i(project_id, order_key)
    WHERE EXISTS (SELECT FROM turn t WHERE t.project_id = i.project_id AND t.order_key = i.order_key);
END $$;

-- The next one, not the first: of two that go away at once, each sees the other as standing. An acceptance that parks holds
-- the turn it found, so that it is there, and seen, before that turn is gone. So does this where one before stands: the next
-- stays parked behind that, instead of being looked at, and left, by every take. The lane is told: it may be another's. What
-- waits for a marked turn may be an earlier one.
CREATE OR REPLACE FUNCTION svc_pass_turn() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  passed_to bigint[];
BEGIN
  passed_to := ARRAY (
    SELECT t.seq FROM turn t
    WHERE t.project_id = OLD.project_id AND t.order_key = OLD.order_key AND t.seq > OLD.seq ORDER BY t.seq LIMIT 1);
  IF passed_to <> '{}' THEN
    PERFORM FROM turn t
    WHERE t.project_id = OLD.project_id AND t.order_key = OLD.order_key AND t.seq < OLD.seq ORDER BY t.seq DESC LIMIT 1
    FOR KEY SHARE SKIP LOCKED;
    IF FOUND THEN
      passed_to := '{}';
    END IF;
  END IF;
  IF OLD.marked THEN
    passed_to := passed_to || ARRAY (
      SELECT t.seq FROM turn t
      WHERE t.project_id = OLD.project_id AND t.order_key = OLD.order_key AND t.seq < OLD.seq ORDER BY t.seq LIMIT 1);
  END IF;
  IF passed_to <> '{}' THEN
    WITH next AS MATERIALIZED (
      SELECT w.project_id, w.seq FROM work w WHERE w.project_id = OLD.project_id AND w.seq = ANY (passed_to)
        AND (w.state = 0 OR w.state = 2 AND w.lease IS NULL) FOR UPDATE SKIP LOCKED),
    freed AS (
      UPDATE work w SET state = 0 FROM next n WHERE w.project_id = n.project_id AND w.seq = n.seq
      RETURNING w.project_id, w.lane_id)
    INSERT INTO wake (project_id, lane_id, due_at) SELECT project_id, lane_id, svc_now() FROM freed;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER turn_passed_on AFTER DELETE ON turn FOR EACH ROW EXECUTE FUNCTION svc_pass_turn();

SELECT svc_ballast('work', '{"kind": "''ballast''"}'), svc_ballast('turn', '{"seq": "n"}'), svc_ballast('lane'),
  svc_ballast('wake', '{"id": "8000000000000000000 + n"}');
