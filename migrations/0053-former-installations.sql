-- compatible: adds a table. The operations of what was deleted before, and of what older nodes delete meanwhile, are not found by their group.

-- Whose the operations of a deleted installation are, for as long as one of them is kept.
CREATE TABLE former_installation (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  group_ref text NOT NULL,
  deleted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX former_installation_of_group ON former_installation (group_ref, project_id);
