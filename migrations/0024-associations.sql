-- breaking: the key of a feed has one column more; nodes of the release before cannot keep feeds.

-- A feed of kind `associations` compares what the records of the object are associated with. `targets`: with which objects.
ALTER TABLE read_feed
  ADD COLUMN kind text NOT NULL DEFAULT 'records' CHECK (kind IN ('records', 'associations')),
  ADD COLUMN targets text NOT NULL DEFAULT '',
  DROP CONSTRAINT read_feed_pkey,
  ADD PRIMARY KEY (project_id, installation_id, object, kind);
ALTER TABLE read_run
  DROP CONSTRAINT read_run_type_check,
  ADD CHECK (type IN ('scheduled', 'backfill', 'triggered', 'associations'));

-- What a record was associated with when it was delivered, or when it was first found: for each object 4 bytes of the hash of
-- its name and 8 of that of the associations. `seen_at` is late by up to a week.
CREATE TABLE read_link (
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  object text NOT NULL,
  record_id text NOT NULL,
  digests bytea NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, installation_id, object, record_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
