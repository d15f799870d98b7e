-- The consumer of a new connection, for nodes of the release before and of this one: each keeps its own table. A name of
-- `consumer` goes along where no other group has a person of that ref.
CREATE OR REPLACE FUNCTION svc_keep_consumer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO consumer (project_id, consumer_ref, name) VALUES (NEW.project_id, NEW.consumer_ref, NEW.consumer_ref)
    ON CONFLICT (project_id, consumer_ref) DO NOTHING;
  INSERT INTO group_consumer (project_id, group_ref, consumer_ref, name)
    SELECT k.project_id, NEW.group_ref, k.consumer_ref, CASE WHEN EXISTS (
      SELECT FROM group_consumer g WHERE g.project_id = k.project_id AND g.consumer_ref = k.consumer_ref)
      THEN k.consumer_ref ELSE k.name END
    FROM consumer k WHERE k.project_id = NEW.project_id AND k.consumer_ref = NEW.consumer_ref
    ON CONFLICT (project_id, group_ref, consumer_ref) DO NOTHING;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER consumer_kept AFTER INSERT ON connection FOR EACH ROW EXECUTE FUNCTION svc_keep_consumer();
