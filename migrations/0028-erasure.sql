-- compatible: adds a table.

-- The removal of what was made before `until`, of a group or of all. `kind` and `place` say how far it is; `removed` counts rows by
-- kind, `unfinished` what was left because it was under way.
CREATE TABLE erasure (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  group_ref text,
  until uuid NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done')),
  kind text,
  place uuid NOT NULL,
  removed json NOT NULL DEFAULT '{}',
  unfinished bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX erasure_running ON erasure (id) WHERE status = 'running';
