-- A turn is taken under a hash of what the record is known by: a long id was too much for the index, and failed everybody
-- whose row stood in the same statement.
CREATE OR REPLACE FUNCTION svc_turn_key(order_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(order_key, 'UTF8')), 'hex'), 32)
$$;

-- The next one, not the first: of two that go away at once, each sees the other as standing. An acceptance that parks holds
-- the turn it found, so that it is there, and seen, before that turn is gone. The lane is told: it may be another's.
CREATE OR REPLACE FUNCTION svc_pass_turn() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  next_seq bigint;
BEGIN
  SELECT t.seq INTO next_seq FROM turn t
    WHERE t.project_id = OLD.project_id AND t.order_key = OLD.order_key AND t.seq > OLD.seq ORDER BY t.seq LIMIT 1;
  IF FOUND THEN
    WITH next AS MATERIALIZED (
      SELECT w.project_id, w.seq FROM work w WHERE w.project_id = OLD.project_id AND w.seq = next_seq
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
