-- compatible: no older node exists.

-- One object that is read for one installation. `object` is the provider's name in lower case. `next_at` is later than
-- `tick_at`, the tick of the schedule, by a time of its own. Everything changed until `watermark` was read.
CREATE TABLE read_feed (
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  object text NOT NULL,
  object_name text NOT NULL,
  schedule text,
  tick_at timestamptz,
  next_at timestamptz NOT NULL DEFAULT 'infinity',
  started_at timestamptz NOT NULL,
  watermark timestamptz NOT NULL,
  paused text CHECK (paused IN ('object', 'installation', 'failures', 'removed')),
  paused_at timestamptz,
  note text,
  -- Scheduled runs that failed one after the other.
  failures integer NOT NULL DEFAULT 0,
  -- The scheduled run under way, the last scheduled one, and the backfill.
  run_id uuid,
  last_run_id uuid,
  backfill_id uuid,
  PRIMARY KEY (project_id, installation_id, object)
) WITH (fillfactor = 80);
CREATE INDEX read_feed_due ON read_feed (next_at) WHERE next_at < 'infinity' AND paused IS NULL;

-- A run that is not at its end: where it goes on. `page` counts the pages that are kept; `deleted`: it is at the deleted records.
CREATE TABLE read_run (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  installation_id uuid NOT NULL,
  object text NOT NULL,
  object_name text NOT NULL,
  type text NOT NULL CHECK (type IN ('scheduled', 'backfill', 'triggered')),
  since timestamptz,
  until timestamptz NOT NULL,
  cursor text,
  deleted boolean NOT NULL DEFAULT false,
  page integer NOT NULL DEFAULT 0,
  processed bigint NOT NULL DEFAULT 0,
  emitted bigint NOT NULL DEFAULT 0,
  estimated bigint,
  -- Attempts that failed since the last page, and since when.
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  -- What its log says already.
  told text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (project_id, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Records that a scheduled run delivered and the next one will find again: 12 bytes of the hash of id and version each.
CREATE TABLE read_seen (
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  object text NOT NULL,
  run_id uuid NOT NULL,
  page integer NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (project_id, installation_id, object, run_id, page)
);
ALTER TABLE read_seen ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Installations whose feeds may not be what their config and their integration say.
CREATE TABLE read_stale (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL
);
