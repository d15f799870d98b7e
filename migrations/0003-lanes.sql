-- compatible: no older node exists.

-- Work: small rows that exist only while something is unfinished. state: 0 ready, 1 sent (an attempt has started),
-- 2 parked behind an earlier item of one of its records, where no take reads past it.
-- lease: whose attempt it is; NULL when nobody's. ordered: has turn rows.
CREATE TABLE work (
  project_id uuid NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  operation_id uuid NOT NULL,
  lane_id uuid NOT NULL,
  kind text NOT NULL,
  prio smallint NOT NULL DEFAULT 1 CONSTRAINT work_prio CHECK (prio BETWEEN 0 AND 3),
  due_at timestamptz NOT NULL,
  deadline timestamptz NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  lease uuid,
  ordered boolean NOT NULL DEFAULT false,
  -- Of work that is accepted as started in the lane of a node: the lane where it belongs, and into which it goes back.
  home_id uuid,
  PRIMARY KEY (project_id, seq)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX work_ready ON work (project_id, lane_id, prio, due_at, seq) WHERE state = 0;
-- Rescue and give-back ask for the sent rows of a lane; without this they would read its whole backlog.
CREATE INDEX work_sent ON work (project_id, lane_id) WHERE state = 1;
CREATE INDEX work_parked ON work (project_id, lane_id, deadline) WHERE state = 2;

-- Order per record: an item is eligible when it is the lowest of each of its records (docs/invariants.md, 8). The key is a
-- hash of what the record is known by, since a long id is too much for the index.
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
-- Project first, so that a claim steps from project to project (docs/invariants.md, 13).
CREATE INDEX lane_due ON lane (project_id, due_at) WHERE due_at < 'infinity';

CREATE TABLE wake (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  lane_id uuid NOT NULL,
  due_at timestamptz NOT NULL
);
