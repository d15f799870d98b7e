-- compatible: adds tables only.

-- History: partitioned by the month in the UUIDv7 of the operation (work.md, rule 3). The default partition is only a net.
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

CREATE TABLE operation_default PARTITION OF operation DEFAULT;
CREATE TABLE record_default PARTITION OF record DEFAULT;
CREATE TABLE operation_log_default PARTITION OF operation_log DEFAULT;

-- The smallest UUIDv7 of a moment: the first 48 bits are the Unix time in milliseconds (RFC 9562, 5.7).
CREATE FUNCTION svc_uuid_floor(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the monthly partitions of the given month for every history table; those that exist stay.
CREATE FUNCTION svc_ensure_partitions(month timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  low timestamptz := date_trunc('month', month AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  high timestamptz := (date_trunc('month', month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
  suffix text := to_char(low AT TIME ZONE 'UTC', 'YYYYMM');
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['operation', 'record', 'operation_log'] LOOP
    IF to_regclass(parent || '_' || suffix) IS NULL THEN
      -- Rows of operation and record are updated once or more: room in the page keeps that to the heap (HOT). Statistics
      -- come only with size: a plan made for a few rows would read the whole partition when there are many.
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 80,
        autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000, autovacuum_analyze_threshold = 10000)',
        parent || '_' || suffix, parent, svc_uuid_floor(low), svc_uuid_floor(high));
    END IF;
  END LOOP;
END $$;
SELECT svc_ensure_partitions(now()), svc_ensure_partitions(now() + interval '1 month');

-- Work: small rows that exist only while something is unfinished. state: 0 ready, 1 sent (an attempt has started).
-- lease: whose attempt it is; NULL when nobody's. ordered: has turn rows.
CREATE TABLE work (
  project_id uuid NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  operation_id uuid NOT NULL,
  lane_id uuid NOT NULL,
  kind text NOT NULL,
  prio smallint NOT NULL DEFAULT 1,
  due_at timestamptz NOT NULL,
  deadline timestamptz NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  lease uuid,
  ordered boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_id, seq)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX work_lane ON work (project_id, lane_id, due_at, seq);
-- Rescue and give-back ask for the sent rows of a lane; without this they would read its whole backlog.
CREATE INDEX work_sent ON work (project_id, lane_id) WHERE state = 1;

-- Order per record: an item is eligible when it is the lowest of each of its records (work.md, rule 8).
CREATE TABLE turn (
  project_id uuid NOT NULL,
  order_key text NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (project_id, order_key, seq)
) WITH (fillfactor = 60);
CREATE INDEX turn_seq ON turn (project_id, seq);

-- One lane per connection. A claimed lane is due when its lease ends; not_before: nothing is sent earlier (throttled).
-- kind 'node': a node's own lane of synchronous writes in one project.
CREATE TABLE lane (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  not_before timestamptz NOT NULL DEFAULT '-infinity',
  lease uuid,
  wakes bigint NOT NULL DEFAULT 0,
  paused boolean NOT NULL DEFAULT false,
  kind text NOT NULL DEFAULT 'connection',
  PRIMARY KEY (project_id, id)
) WITH (fillfactor = 60);
-- Project first, so that a claim steps from project to project (work.md, rule 13).
CREATE INDEX lane_due ON lane (project_id, due_at) WHERE due_at < 'infinity';

CREATE TABLE wake (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  lane_id uuid NOT NULL,
  due_at timestamptz NOT NULL
);

-- These four are nearly empty most of the time. A plan made then is kept, and what reads the whole of a table believed
-- empty is ruinous once a backlog has grown. Rows of no project that nothing ever selects keep the statistics, and with
-- them the plans, to what a long queue needs.
INSERT INTO work (project_id, operation_id, lane_id, kind, due_at, deadline)
  SELECT nil, gen_random_uuid(), gen_random_uuid(), 'ballast', 'infinity', 'infinity'
  FROM generate_series(1, 5000), CAST('00000000-0000-0000-0000-000000000000' AS uuid) nil;
INSERT INTO turn (project_id, order_key, seq) SELECT project_id, operation_id::text, seq FROM work;
INSERT INTO lane (project_id, id, due_at) SELECT project_id, lane_id, 'infinity' FROM work;
INSERT INTO wake (id, project_id, lane_id, due_at) OVERRIDING SYSTEM VALUE
  SELECT 8000000000000000000 + seq, project_id, lane_id, 'infinity' FROM work;
