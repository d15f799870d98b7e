-- compatible: adds a table, a column that may be NULL, and an index.

-- What happened to connections and installations, for those who ask and, later, for those who are told. data: the block of
-- the event as it is told (product-api 3.4). Kept for 30 days.
CREATE TABLE event (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  group_ref text NOT NULL,
  connection_id uuid,
  installation_id uuid,
  data json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX event_connection ON event (project_id, connection_id, id);
CREATE INDEX event_age ON event (id);

-- Not before this moment is an idle connection kept alive again: the hold of the node that does it, and the pause after.
ALTER TABLE connections ADD COLUMN keep_alive_at timestamptz;
CREATE INDEX connections_idle ON connections (provider, coalesce(access_issued_at, created_at)) WHERE status <> 'bad_credentials';
