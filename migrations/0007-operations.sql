-- compatible: no older node exists.

-- History: partitioned by the month in the UUIDv7 of the operation (docs/invariants.md, 3).
CREATE TABLE operation (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  config_id uuid NOT NULL,
  action_type text NOT NULL,
  -- How the action was asked for: its kind, mode, deadline and policy, as the executor needs them.
  request json NOT NULL,
  resource text NOT NULL,
  status text NOT NULL,
  result text,
  errors json,
  attempts integer NOT NULL DEFAULT 0,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  total integer NOT NULL,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  unknown integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
-- Not project first: with it, a look-up by key planned for a small partition could take this index and walk the project.
CREATE INDEX operation_installation ON operation (installation_id, id);

CREATE TABLE record (
  project_id uuid NOT NULL,
  operation_id uuid NOT NULL,
  slot integer NOT NULL,
  reference text,
  payload json NOT NULL,
  outcome json,
  -- The provider's id, once there is one.
  record_id text,
  -- Of an auto-batched record: whose place it is (a commit whose answer was lost is looked for by it), and the key under
  -- which it takes its turn once its batch is sealed.
  entry uuid,
  order_key text,
  -- What somebody found out about a record of unknown outcome: {resolution, recordId, by, at}.
  resolution json,
  PRIMARY KEY (project_id, operation_id, slot)
) PARTITION BY RANGE (operation_id);

CREATE TABLE operation_log (
  project_id uuid NOT NULL,
  operation_id uuid NOT NULL,
  id uuid NOT NULL,
  severity text NOT NULL,
  message json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, operation_id, id)
) PARTITION BY RANGE (operation_id);

-- What a caller's Idempotency-Key stood for. principal: whose key it is. status, response: how a synchronous
-- write was answered, once it was; without them the answer follows from the operation. Rows of the principal `retry` are
-- ours: an operation is repeated once.
CREATE TABLE idempotency (
  project_id uuid NOT NULL,
  principal text NOT NULL,
  key text NOT NULL,
  hash bytea NOT NULL,
  operation_id uuid NOT NULL,
  status smallint,
  response json,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, principal, key)
) WITH (fillfactor = 80);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
