-- compatible: adds a table.

-- One sealed value for each master key that ever sealed here, by which a node knows whether it has the right keys.
CREATE TABLE master_keys (
  id text PRIMARY KEY,
  check_value bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now()
);
