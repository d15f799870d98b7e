-- compatible: no older node exists.

-- What happened to connections, installations and destinations, for those who ask and for those who are told. data: the
-- block of the event as it is told. Kept for 30 days.
CREATE TABLE event (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  -- What happens to a destination concerns no group.
  group_ref text,
  connection_id uuid,
  installation_id uuid,
  data json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX event_connection ON event (project_id, connection_id, id);
CREATE INDEX event_age ON event (id);

-- Every administrative change and every disclosure of a credential: who, what, when, from where. Never a secret. Partitioned
-- by the month in the UUIDv7.
CREATE TABLE audit_log (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text NOT NULL,
  -- Who: the kind of credentials, the id of the key, and, for the token of an end user, whose it is.
  actor_kind text NOT NULL,
  key_id text,
  group_ref text,
  consumer_ref text,
  address text,
  request_id text,
  details json,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX audit_log_target ON audit_log (project_id, target_id, id);
