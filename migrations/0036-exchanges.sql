-- compatible: adds a table.

-- What was sent to a provider for an operation, and what it answered: without credentials, which are added below the place where
-- this is noted. Written in batches afterwards; a node that dies takes the last of it along.
CREATE TABLE exchange (
  project_id uuid NOT NULL,
  -- Its first 48 bits are when the request began.
  id uuid NOT NULL,
  operation_id uuid NOT NULL,
  group_ref text,
  attempt integer NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  request_headers json,
  -- The beginning of the body, and how long all of it is, in bytes.
  request_body text,
  request_bytes integer NOT NULL,
  -- NULL: there was no answer; `fault` says why.
  status smallint,
  fault text,
  answer_headers json,
  answer_body text,
  answer_bytes integer NOT NULL,
  total_ms integer NOT NULL,
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX exchange_operation ON exchange (operation_id, id);
CREATE TABLE exchange_default PARTITION OF exchange DEFAULT;
