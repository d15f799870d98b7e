-- compatible: no older node exists.

-- Where the next record of a key goes: `taken` places of the batch are handed out. Updated for every group of records.
CREATE TABLE ab_head (
  project_id uuid NOT NULL,
  key uuid NOT NULL,
  batch_id uuid,
  taken integer NOT NULL,
  -- Of the batch's first record; from then on the key needs another batch.
  close_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, key)
) WITH (fillfactor = 20);

-- The open batches; the id is that of the master operation. Sealing a batch deletes its row, so that it never opens again.
CREATE TABLE ab_batch (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The order in which the batches of a key were opened.
  seq bigint GENERATED ALWAYS AS IDENTITY,
  key uuid NOT NULL,
  lane_id uuid NOT NULL,
  prio smallint NOT NULL,
  -- When it leaves whatever it holds: 10 s after it was opened until its first record is in, then `latest_at`; 2 s after
  -- its last place was handed out, so that places whose takers died hold up nobody.
  close_at timestamptz NOT NULL,
  -- The time of the first record plus that record's delay.
  latest_at timestamptz NOT NULL,
  handed_out boolean NOT NULL DEFAULT false,
  deadline_s double precision NOT NULL,
  PRIMARY KEY (project_id, id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX ab_batch_lane ON ab_batch (project_id, lane_id, close_at);
CREATE INDEX ab_batch_close ON ab_batch (close_at);

-- The records that stand in open batches, by the key under which they take their turn. A record that comes for another key
-- (other headers, say) closes the batch that it stands in, so that its changes leave in the order in which they were accepted.
CREATE TABLE ab_turn (
  project_id uuid NOT NULL,
  order_key text NOT NULL,
  batch_id uuid NOT NULL,
  PRIMARY KEY (project_id, order_key, batch_id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
