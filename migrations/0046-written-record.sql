-- compatible: adds a table. What was written before, and what older nodes end meanwhile, is not found by the ids of its records.

-- By what an operation is found that wrote a record, or failed to: `svc_record_hash` of the provider's id. It stands beside the
-- record, since an index of the record would hinder its update.
CREATE TABLE written_record (
  project_id uuid NOT NULL,
  hash bigint NOT NULL,
  operation_id uuid NOT NULL,
  PRIMARY KEY (project_id, hash, operation_id)
) PARTITION BY RANGE (operation_id);

-- For the operations that are under way.
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT replace(c.relname, 'operation', 'written_record') AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
    FROM pg_partition_tree('operation') t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf
  LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF written_record %s WITH (fillfactor = 100, autovacuum_vacuum_threshold = 10000,
      autovacuum_vacuum_insert_threshold = 10000, autovacuum_analyze_threshold = 10000)', part.name, part.bounds);
  END LOOP;
END $$;
