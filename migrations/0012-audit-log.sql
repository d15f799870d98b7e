-- compatible: adds a table and a function.

-- Every administrative change and every disclosure of a credential: who, what, when, from where. Never a secret. Partitioned
-- by the month in the UUIDv7.
CREATE TABLE audit_log (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text NOT NULL,
  -- Who: the kind of credentials, the id of the key, and, for the token of an end user, whose it is.
  actor_kind text NOT NULL,
  key_id text,
  group_ref text,
  consumer_ref text,
  address text,
  request_id text,
  details json,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX audit_log_target ON audit_log (project_id, target_id, id);

-- Makes the partitions of this month and of a year, and drops those whose last day is `keep_days` or more ago; gives way to
-- whoever has the table.
CREATE FUNCTION svc_rotate_audit_log(keep_days integer) RETURNS void LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
DECLARE
  first timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
  low timestamp;
  part text;
BEGIN
  FOR n IN 0..12 LOOP
    low := first + make_interval(months => n);
    part := 'audit_log_' || to_char(low, 'YYYYMM');
    CONTINUE WHEN to_regclass(part) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE audit_log INCLUDING ALL)', part);
    EXECUTE format('ALTER TABLE audit_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part,
      svc_uuid_floor(low AT TIME ZONE 'UTC'), svc_uuid_floor((low + interval '1 month') AT TIME ZONE 'UTC'));
  END LOOP;
  FOR part IN SELECT relid::regclass::text FROM pg_partition_tree('audit_log') WHERE isleaf LOOP
    IF part ~ '^audit_log_\d{6}$'
      AND to_date(right(part, 6), 'YYYYMM') + interval '1 month' <= now() AT TIME ZONE 'UTC' - make_interval(days => keep_days)
    THEN
      EXECUTE format('DROP TABLE %I', part);
    END IF;
  END LOOP;
END $$;
SELECT svc_rotate_audit_log(36500);
