-- compatible: gives columns their values. The triggers that come with it do the same for feeds that former nodes make.

-- A feed that a former node made names no connection. Nobody makes one until the triggers are there.
LOCK TABLE read_feed IN SHARE ROW EXCLUSIVE MODE;
UPDATE read_feed f SET connection_id = n.connection_id
  FROM installation n WHERE f.connection_id IS NULL AND n.project_id = f.project_id AND n.id = f.installation_id;

-- A former node took the note that the installation has another connection, and left the feed with the one before.
INSERT INTO read_stale (project_id, installation_id)
  SELECT DISTINCT f.project_id, f.installation_id FROM read_feed f
  JOIN installation n ON n.project_id = f.project_id AND n.id = f.installation_id
  WHERE f.connection_id <> n.connection_id;
