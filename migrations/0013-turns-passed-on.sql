-- compatible: other indexes, and a trigger that follows what older nodes do. Their takes are slower until they are gone.

-- An item that stands behind another of its record is parked (state 2), where no take reads past it: 40,000 writes of one
-- record cost the lane, and those beside it, a look at each of them at every take. Whoever takes a turn away passes it on.
-- A parked synchronous write is under its node's lease; that node looks itself.
ALTER TABLE work ADD CONSTRAINT work_prio CHECK (prio BETWEEN 0 AND 3);
DROP INDEX work_lane;
CREATE INDEX work_ready ON work (project_id, lane_id, prio, due_at, seq) WHERE state = 0;
CREATE INDEX work_parked ON work (project_id, lane_id, deadline) WHERE state = 2;

-- The next one, not the first: of two that go away at once, each sees the other as standing. An acceptance that parks holds
-- the turn it found, so that it is there, and seen, before that turn is gone. The lane is told: it may be another's.
CREATE FUNCTION svc_pass_turn() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER turn_passed_on AFTER DELETE ON turn FOR EACH ROW EXECUTE FUNCTION svc_pass_turn();

-- What stands; nobody takes a turn away until this is committed.
UPDATE work w SET state = 2 FROM (
  SELECT w.project_id, w.seq FROM work w
  WHERE w.state = 0 AND w.lease IS NULL AND w.ordered AND EXISTS (
    SELECT FROM turn mine JOIN turn earlier
      ON earlier.project_id = mine.project_id AND earlier.order_key = mine.order_key AND earlier.seq < mine.seq
    WHERE mine.project_id = w.project_id AND mine.seq = w.seq)
  FOR UPDATE OF w SKIP LOCKED) behind
WHERE w.project_id = behind.project_id AND w.seq = behind.seq;
