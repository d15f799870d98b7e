-- compatible: adds columns that have a default or may be NULL, a table and indexes.

-- How many deliveries ran out of attempts that no event has told of yet, and since when.
ALTER TABLE destination
  ADD COLUMN dead_letters bigint NOT NULL DEFAULT 0,
  ADD COLUMN dead_since timestamptz;
CREATE INDEX destination_dead ON destination (dead_since) WHERE dead_since IS NOT NULL;

-- Messages that are sent again to one destination, those with an id above `place` and below `until`, the oldest first. `place`
-- moves on with what is queued. What is at its end stays as long as messages do.
CREATE TABLE replay (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  destination_id uuid NOT NULL,
  filter json NOT NULL,
  place uuid NOT NULL,
  until uuid NOT NULL,
  status text NOT NULL DEFAULT 'queueing' CHECK (status IN ('queueing', 'queued', 'canceled')),
  reason text,
  queued bigint NOT NULL DEFAULT 0,
  delivered bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
) WITH (fillfactor = 50);

-- The replay that sent it last, until it ends.
ALTER TABLE delivery ADD COLUMN replay_id uuid;
