-- compatible: no older node exists.

-- One line per proxied call, written in batches afterwards. Never a body, never a header, never the value of a query.
CREATE TABLE proxy_log (
  project_id uuid NOT NULL,
  -- The id of the request; its first 48 bits are when it arrived.
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  group_ref text NOT NULL,
  provider text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  -- What the caller got; NULL when there was no answer to give.
  status smallint,
  -- The code of the problem when the answer was ours.
  problem text,
  -- Until the provider's answer began; NULL when none did.
  provider_ms integer,
  total_ms integer NOT NULL,
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX proxy_log_installation ON proxy_log (installation_id, id);
-- A line without a partition of its own stays here until its day is made.
CREATE TABLE proxy_log_default PARTITION OF proxy_log DEFAULT;
