-- compatible: adds tables only.

-- Connections whose provider said that a limit is reached: nothing queued is sent before closed_until (svc_now). A row is
-- written when a provider answers so, never for a call; nodes keep the open ones in memory.
CREATE TABLE budget (
  project_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  closed_until timestamptz NOT NULL,
  -- The provider locked the token out: a wait too long to sit through.
  locked_out boolean NOT NULL,
  PRIMARY KEY (project_id, connection_id)
) WITH (fillfactor = 60);
CREATE INDEX budget_closed ON budget (closed_until);

-- One line per proxied call, written in batches afterwards. Never a body, never a header, never the value of a query.
CREATE TABLE proxy_log (
  project_id uuid NOT NULL,
  -- The id of the request; its first 48 bits are when it arrived.
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  group_ref text NOT NULL,
  provider text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  -- What the caller got; NULL when there was no answer to give.
  status smallint,
  -- The code of the problem when the answer was ours.
  problem text,
  -- Until the provider's answer began; NULL when none did.
  provider_ms integer,
  total_ms integer NOT NULL,
  PRIMARY KEY (project_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX proxy_log_installation ON proxy_log (installation_id, id);
CREATE TABLE proxy_log_default PARTITION OF proxy_log DEFAULT;

-- Makes the partitions of today and the next two days, and drops those whose last day is `keep_days` or more ago.
CREATE FUNCTION svc_rotate_proxy_log(keep_days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  each_day date;
  part text;
BEGIN
  FOR each_day IN SELECT today + n FROM generate_series(0, 2) n LOOP
    part := 'proxy_log_' || to_char(each_day, 'YYYYMMDD');
    IF to_regclass(part) IS NULL THEN
      EXECUTE format('CREATE TABLE %I PARTITION OF proxy_log FOR VALUES FROM (%L) TO (%L)', part,
        svc_uuid_floor(each_day::timestamp AT TIME ZONE 'UTC'), svc_uuid_floor((each_day + 1)::timestamp AT TIME ZONE 'UTC'));
    END IF;
  END LOOP;
  FOR part IN SELECT relid::regclass::text FROM pg_partition_tree('proxy_log') WHERE isleaf LOOP
    IF part ~ '^proxy_log_\d{8}$' AND to_date(right(part, 8), 'YYYYMMDD') <= today - keep_days THEN
      EXECUTE format('DROP TABLE %I', part);
    END IF;
  END LOOP;
  DELETE FROM proxy_log_default WHERE id < svc_uuid_floor((today - keep_days)::timestamp AT TIME ZONE 'UTC');
END $$;
