-- compatible: adds a table. Older nodes go on adding to the operations themselves.

-- Of the records of a read, how many arrived, or finally did not, since the operation was last brought up to date.
CREATE TABLE operation_delta (
  project_id uuid NOT NULL,
  operation_id uuid NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
