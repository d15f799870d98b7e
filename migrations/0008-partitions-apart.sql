-- compatible: replaces functions by ones with the same form, and takes partitions away that nothing names.

-- Before, a partition was made in its parent, which needs a lock that any open reader of history (a backup) withholds, and
-- every acceptance waited behind that. Now a partition is made apart and attached, which readers and writers do not notice.
-- Makes the monthly partitions of the given month for every history table; those that exist stay.
CREATE OR REPLACE FUNCTION svc_ensure_partitions(month timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  low timestamptz := date_trunc('month', month AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  high timestamptz := (date_trunc('month', month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
  part text;
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['operation', 'record', 'operation_log'] LOOP
    part := parent || '_' || to_char(low AT TIME ZONE 'UTC', 'YYYYMM');
    IF to_regclass(part) IS NULL THEN
      -- Rows of operation and record are updated once or more: room in the page keeps that to the heap (HOT). Statistics
      -- come only with size: a plan made for a few rows would read the whole partition when there are many.
      EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_threshold = 10000, autovacuum_analyze_threshold = 10000)', part, parent);
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part,
        svc_uuid_floor(low), svc_uuid_floor(high));
    END IF;
  END LOOP;
END $$;

-- The moment in a UUIDv7, to the millisecond.
CREATE FUNCTION svc_uuid_moment(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- Takes the default partitions of the history away: with them, attaching a month reads them whole and locks them against
-- everybody, and one row of that month in them keeps it out for ever. What stands in them goes where it belongs. This needs
-- the parents for itself, so it gives way to whoever has them; `most_bytes`: with more in them, it does nothing but say so,
-- since nothing is accepted while rows move.
CREATE FUNCTION svc_retire_defaults(most_bytes bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
DECLARE
  parents text[];
  parent text;
  bytes bigint;
  month timestamptz;
BEGIN
  SELECT array_agg(p ORDER BY p) INTO parents FROM unnest(ARRAY['operation', 'record', 'operation_log']) p
    WHERE to_regclass(p || '_default') IS NOT NULL;
  IF parents IS NULL THEN
    RETURN;
  END IF;
  SELECT sum(pg_table_size((p || '_default')::regclass)) INTO bytes FROM unnest(parents) p;
  IF bytes > most_bytes THEN
    RAISE EXCEPTION 'the default partitions of the history hold % bytes', bytes
      USING HINT = 'Run SELECT svc_retire_defaults(NULL) at a quiet hour; nothing is accepted while it runs.';
  END IF;
  FOREACH parent IN ARRAY parents LOOP
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, parent || '_default');
  END LOOP;
  FOREACH parent IN ARRAY parents LOOP
    FOR month IN EXECUTE format('SELECT DISTINCT date_trunc(''month'', svc_uuid_moment(%I) AT TIME ZONE ''UTC'')
        AT TIME ZONE ''UTC'' FROM %I', CASE parent WHEN 'operation' THEN 'id' ELSE 'operation_id' END, parent || '_default')
    LOOP
      PERFORM svc_ensure_partitions(month);
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', parent, parent || '_default');
    EXECUTE format('DROP TABLE %I', parent || '_default');
  END LOOP;
END $$;

-- With an open reader the workers do it later.
DO $$ BEGIN
  PERFORM svc_retire_defaults(10000000);
EXCEPTION WHEN lock_not_available OR raise_exception THEN NULL;
END $$;

-- Makes the partitions of today and the next week, and drops those whose last day is `keep_days` or more ago; gives way to
-- whoever has the table. A line of the log without a partition of its own stays in the default one until its day is made.
CREATE OR REPLACE FUNCTION svc_rotate_proxy_log(keep_days integer) RETURNS void LANGUAGE plpgsql
SET lock_timeout = '100ms' AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  low timestamptz;
  high timestamptz;
  part text;
BEGIN
  FOR low, high IN SELECT d, d + interval '1 day' FROM (
    SELECT (today + n)::timestamp AT TIME ZONE 'UTC' AS d FROM generate_series(0, 7) n) days
  LOOP
    part := 'proxy_log_' || to_char(low AT TIME ZONE 'UTC', 'YYYYMMDD');
    CONTINUE WHEN to_regclass(part) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE proxy_log INCLUDING ALL)', part);
    EXECUTE format('WITH gone AS (DELETE FROM proxy_log_default WHERE id >= %L AND id < %L RETURNING *)
      INSERT INTO %I SELECT * FROM gone', svc_uuid_floor(low), svc_uuid_floor(high), part);
    EXECUTE format('ALTER TABLE proxy_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part,
      svc_uuid_floor(low), svc_uuid_floor(high));
  END LOOP;
  FOR part IN SELECT relid::regclass::text FROM pg_partition_tree('proxy_log') WHERE isleaf LOOP
    IF part ~ '^proxy_log_\d{8}$' AND to_date(right(part, 8), 'YYYYMMDD') <= today - keep_days THEN
      EXECUTE format('DROP TABLE %I', part);
    END IF;
  END LOOP;
  DELETE FROM proxy_log_default WHERE id < svc_uuid_floor((today - keep_days)::timestamp AT TIME ZONE 'UTC');
END $$;
