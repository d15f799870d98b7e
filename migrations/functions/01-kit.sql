-- Says in svc_now() itself how far the clock is shifted: a function that reads it from the table is planned at each call, and for
-- each row that has it as a default, where this becomes now() in whatever asks.
CREATE OR REPLACE FUNCTION svc_shift_clock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS %L',
    'SELECT now()' || CASE WHEN NEW.shift = '0' THEN '' ELSE format(' + %L::interval', NEW.shift) END);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER clock_shifted AFTER UPDATE ON clock FOR EACH ROW EXECUTE FUNCTION svc_shift_clock();
UPDATE clock SET shift = shift;

-- The smallest UUIDv7 of a moment: the first 48 bits are the Unix time in milliseconds (RFC 9562, 5.7). None is of before 1970.
-- NULL stays NULL.
CREATE OR REPLACE FUNCTION svc_uuid_floor(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex(CASE WHEN extract(epoch FROM moment) < 0 THEN 0 ELSE (extract(epoch FROM moment) * 1000)::bigint END),
    12, '0') || '00000000000000000000')::uuid
$$;

-- The moment in a UUIDv7, to the millisecond.
CREATE OR REPLACE FUNCTION svc_uuid_moment(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- Makes the partition of `parent` for the month or the day (`unit`) that begins at `low`, in UTC; one that exists stays. It is
-- made apart and then attached, which readers and writers do not notice: made in its parent, it would need a lock that any open
-- reader (a backup) withholds. What stands in the default partition for that time goes where it belongs, by `key`; without
-- `key` there is no default partition.
-- `fillfactor`: for rows that are updated, room in the page keeps that to the heap (HOT). With one, statistics come only with
-- size: a plan made for a few rows would read the whole partition when there are many.
CREATE OR REPLACE FUNCTION svc_make_partition(parent text, unit text, low timestamp, key text, fillfactor integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part text := parent || '_' || to_char(low, CASE unit WHEN 'month' THEN 'YYYYMM' ELSE 'YYYYMMDD' END);
  floor uuid := svc_uuid_floor(low AT TIME ZONE 'UTC');
  ceiling uuid := svc_uuid_floor((low + ('1 ' || unit)::interval) AT TIME ZONE 'UTC');
BEGIN
  IF to_regclass(part) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent) || CASE WHEN fillfactor IS NULL THEN '' ELSE
    format(' WITH (fillfactor = %s, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000,
      autovacuum_analyze_threshold = 10000)', fillfactor) END;
  IF key IS NOT NULL THEN
    EXECUTE format('WITH gone AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *) INSERT INTO %I SELECT * FROM gone',
      parent || '_default', key, floor, key, ceiling, part);
  END IF;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, floor, ceiling);
END $$;

-- Made and dropped in one transaction, where a default partition is locked and then the parent, while each reader comes the other way.
DROP FUNCTION IF EXISTS svc_keep_partitions(text, text, integer, text, integer, integer);

-- Makes the partitions of `parent` for this month or day and `ahead` more, by the clock that ids are made by.
CREATE OR REPLACE FUNCTION svc_make_partitions(parent text, unit text, ahead integer, key text, fillfactor integer)
RETURNS void LANGUAGE sql AS $$
  SELECT svc_make_partition(parent, unit, date_trunc(unit, now() AT TIME ZONE 'UTC') + n * ('1 ' || unit)::interval, key, fillfactor)
  FROM generate_series(0, ahead) n
$$;

-- Drops the partitions of `parent` that ended `keep_days` whole days or more before this one by svc_now(), and what the default partition
-- has from before: what is of a day's last second is kept for all of its days, too.
CREATE OR REPLACE FUNCTION svc_drop_partitions(parent text, key text, keep_days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  today date := (svc_now() AT TIME ZONE 'UTC')::date;
  part text;
  first text;
  past timestamp;
BEGIN
  FOR part IN SELECT relid::regclass::text FROM pg_partition_tree(parent) WHERE isleaf LOOP
    first := substring(part FROM '^' || parent || '_(\d{8}|\d{6})$');
    past := CASE length(first) WHEN 6 THEN to_date(first, 'YYYYMM') + interval '1 month'
      ELSE to_date(first, 'YYYYMMDD') + interval '1 day' END;
    IF past <= today - keep_days THEN
      EXECUTE format('DROP TABLE %I', part);
    END IF;
  END LOOP;
  IF key IS NOT NULL THEN
    EXECUTE format('DELETE FROM %I WHERE %I < %L', parent || '_default', key,
      svc_uuid_floor((today - keep_days)::timestamp AT TIME ZONE 'UTC'));
  END IF;
END $$;

-- Takes the default partition of an older release away, if there is one: with it, attaching a month reads it whole and locks it
-- against everybody, and one row of that month in it keeps the month out for ever. What stands in it goes where it belongs, by
-- `key`. This needs the parent for itself. With more than `most_bytes` in it, it does nothing but say so, since nothing is
-- accepted while rows move.
CREATE OR REPLACE FUNCTION svc_retire_default(parent text, unit text, key text, fillfactor integer, most_bytes bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  leftover text := parent || '_default';
  low timestamp;
BEGIN
  IF to_regclass(leftover) IS NULL THEN
    RETURN;
  END IF;
  IF pg_table_size(leftover::regclass) > most_bytes THEN
    -- In the message, since the log has no other field of an error.
    RAISE EXCEPTION 'the default partition of % holds % bytes: run % at a quiet hour, nothing is accepted while it runs',
      parent, pg_table_size(leftover::regclass),
      format('SELECT svc_retire_default(%L, %L, %L, %L, NULL)', parent, unit, key, fillfactor);
  END IF;
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, leftover);
  FOR low IN EXECUTE format('SELECT DISTINCT date_trunc(%L, svc_uuid_moment(%I) AT TIME ZONE ''UTC'') FROM %I', unit, key, leftover)
  LOOP
    PERFORM svc_make_partition(parent, unit, low, NULL, fillfactor);
  END LOOP;
  EXECUTE format('INSERT INTO %I SELECT * FROM %I', parent, leftover);
  EXECUTE format('DROP TABLE %I', leftover);
END $$;

-- Fills a table of the queue with 5,000 rows of a project that nothing ever selects, unless it has them. Such a table is
-- nearly empty most of the time. A plan made then is kept, and what reads the whole of a table believed empty is ruinous once
-- a backlog has grown: the ballast keeps the statistics, and with them the plans, to what a long queue needs.
-- Each column that must have a value gets one of its type, other in each row where it can be; `given` has an expression, in
-- which `n` is the number of the row, for each one that must be something else.
CREATE OR REPLACE FUNCTION svc_ballast(target text, given jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  is_there boolean;
  names text;
  expressions text;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE project_id = %L)', target, nobody) INTO is_there;
  IF is_there THEN
    RETURN;
  END IF;
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg(CASE
    WHEN given ? attname THEN given->>attname
    WHEN attname = 'project_id' THEN quote_literal(nobody)
    WHEN atttypid = 'uuid'::regtype THEN 'gen_random_uuid()'
    WHEN atttypid = 'text'::regtype THEN 'gen_random_uuid()::text'
    WHEN atttypid = 'timestamptz'::regtype THEN '''infinity'''
    WHEN atttypid = 'bytea'::regtype THEN '''\x'''
    ELSE '0' END, ', ' ORDER BY attnum) INTO names, expressions
  FROM pg_attribute
  WHERE attrelid = target::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull
    AND (given ? attname OR NOT atthasdef AND attidentity = '');
  EXECUTE format('INSERT INTO %I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, 5000) n',
    target, names, expressions);
END $$;
