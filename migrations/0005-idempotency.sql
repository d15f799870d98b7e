-- compatible: adds a table and a column; older nodes leave both alone.

-- What a caller's Idempotency-Key stood for (work.md, ACCEPT). principal: whose key it is. status, response: how a synchronous
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
-- As for the tables of work (migration 2): plans stay those of a long table.
INSERT INTO idempotency (project_id, principal, key, hash, operation_id, expires_at)
  SELECT '00000000-0000-0000-0000-000000000000', 'ballast', gen_random_uuid()::text, '\x', gen_random_uuid(), 'infinity'
  FROM generate_series(1, 5000);

-- What somebody found out about a record of unknown outcome: {resolution, recordId, by, at}.
ALTER TABLE record ADD COLUMN resolution json;
