-- compatible: no older node exists.

-- Where messages go. secrets: sealed. failing_since: nothing succeeded since this failure.
CREATE TABLE destination (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  metadata json NOT NULL,
  secrets bytea NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  reason text,
  failing_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX destination_name ON destination (project_id, lower(name));

CREATE SEQUENCE message_seq AS bigint CACHE 1;

-- What is delivered: one row for a body, whatever becomes of it. encoding: 0 plain, 1 zstd. result: the record of a message
-- that only links to it, under a secret of which link_hash is the SHA-256. keys: for each record [id, version, 1 if deleted].
-- Partitioned by the day in its UUIDv7. The default partition is only a net.
CREATE TABLE message (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('message_seq'),
  operation_id uuid,
  installation_id uuid NOT NULL,
  group_ref text NOT NULL,
  object text NOT NULL,
  destination_id uuid NOT NULL,
  page integer NOT NULL,
  slice smallint NOT NULL,
  records integer NOT NULL,
  bytes integer NOT NULL,
  encoding smallint NOT NULL CHECK (encoding IN (0, 1)),
  body bytea NOT NULL,
  result bytea,
  keys json NOT NULL,
  link_hash bytea,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
-- It is compressed before it comes here.
ALTER TABLE message ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN result SET STORAGE EXTERNAL;
-- Not project first: with it, a look-up by key planned for a small partition could take these indexes and walk the project.
CREATE INDEX message_installation ON message (installation_id, id);
CREATE INDEX message_group ON message (group_ref, id);
CREATE INDEX message_destination ON message (destination_id, id);
CREATE INDEX message_operation ON message (operation_id, id) WHERE operation_id IS NOT NULL;

-- What became of a message at its destination; written with its first outcome. Until then the work row alone stands for it.
-- log: the latest attempts. ended: how it ended last, and so where its operation counts it; stays when it is sent again.
CREATE TABLE delivery (
  project_id uuid NOT NULL,
  message_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'canceled')),
  ended text CHECK (ended IN ('delivered', 'failed')),
  attempts integer NOT NULL,
  http_status smallint,
  error text,
  log jsonb NOT NULL DEFAULT '[]',
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  next_at timestamptz,
  PRIMARY KEY (project_id, message_id, destination_id)
) PARTITION BY RANGE (message_id);
-- Few, and looked for among many.
CREATE INDEX delivery_ended ON delivery (project_id, message_id) WHERE status IN ('failed', 'canceled');

CREATE TABLE message_default PARTITION OF message DEFAULT;
CREATE TABLE delivery_default PARTITION OF delivery DEFAULT;
