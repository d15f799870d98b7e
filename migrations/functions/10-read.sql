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

SELECT svc_ballast('read_feed', '{"object": "''ballast''", "object_name": "''ballast''"}'),
  svc_ballast('read_run', '{"object": "''ballast''", "object_name": "''ballast''", "type": "''triggered''"}'),
  svc_ballast('read_link', '{"object": "''ballast''"}');
