-- compatible: no older node exists.

CREATE TABLE installations (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  group_ref text NOT NULL,
  connection_id uuid NOT NULL,
  config_id uuid NOT NULL,
  last_operation_status text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  -- Operations and failures among them, each worth a tenth less with every one that ends after it: what a share is taken of.
  recent_operations real NOT NULL DEFAULT 0,
  recent_failures real NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX installations_group ON installations (project_id, integration_id, group_ref);
CREATE INDEX installations_connection ON installations (project_id, connection_id);

-- Immutable; the newest one of an installation is in force.
CREATE TABLE configs (
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  id uuid NOT NULL,
  revision_id uuid NOT NULL,
  created_by text NOT NULL,
  content json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, installation_id, id)
);
