CREATE OR REPLACE FUNCTION svc_read_stale_installation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO read_stale (project_id, installation_id)
    VALUES (coalesce(NEW.project_id, OLD.project_id), coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION svc_read_stale_integration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO read_stale (project_id, installation_id)
    SELECT project_id, id FROM installation WHERE project_id = NEW.project_id AND integration_id = NEW.id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER read_stale AFTER INSERT OR DELETE OR UPDATE OF config_id ON installation
  FOR EACH ROW EXECUTE FUNCTION svc_read_stale_installation();
CREATE OR REPLACE TRIGGER read_stale AFTER UPDATE OF latest_revision_id ON integration
  FOR EACH ROW EXECUTE FUNCTION svc_read_stale_integration();

-- A node of the release before migration 70 names no connection: its feed is of the connection that the installation has. One of another
-- connection goes with all that was kept of its account, so that this one is new, also for that node; what a call paused stays paused.
CREATE OR REPLACE FUNCTION svc_read_feed_connection() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former read_feed;
BEGIN
  SELECT n.connection_id INTO NEW.connection_id FROM installation n
    WHERE n.project_id = NEW.project_id AND n.id = NEW.installation_id;
  DELETE FROM read_feed f WHERE f.project_id = NEW.project_id AND f.installation_id = NEW.installation_id
    AND f.object = NEW.object AND f.kind = NEW.kind AND f.connection_id <> NEW.connection_id RETURNING f.* INTO former;
  IF FOUND THEN
    DELETE FROM read_seen s WHERE NEW.kind = 'records' AND s.project_id = NEW.project_id
      AND s.installation_id = NEW.installation_id AND s.object = NEW.object;
    DELETE FROM read_link l WHERE NEW.kind = 'associations' AND l.project_id = NEW.project_id
      AND l.installation_id = NEW.installation_id AND l.object = NEW.object;
    IF former.paused IN ('object', 'installation') THEN
      NEW.paused := former.paused;
      NEW.paused_at := former.paused_at;
      NEW.note := former.note;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER read_feed_connection BEFORE INSERT ON read_feed
  FOR EACH ROW WHEN (NEW.connection_id IS NULL) EXECUTE FUNCTION svc_read_feed_connection();

SELECT svc_ballast('read_feed', '{"object": "''ballast''", "object_name": "''ballast''"}'),
  svc_ballast('read_run', '{"object": "''ballast''", "object_name": "''ballast''", "type": "''triggered''"}'),
  svc_ballast('read_link', '{"object": "''ballast''"}');
