-- compatible: no older node exists.

-- One clock for leases, deadlines and schedules. `shift` is zero; tests move it to stand for minutes and hours.
CREATE TABLE clock (single boolean PRIMARY KEY DEFAULT true CHECK (single), shift interval NOT NULL DEFAULT '0');
INSERT INTO clock DEFAULT VALUES;
-- Here and not among the functions, since the tables below have it as a default.
CREATE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT now() + (SELECT shift FROM clock) $$;

-- One sealed value for each master key that ever sealed here, by which a node knows whether it has the right keys.
CREATE TABLE master_keys (
  id text PRIMARY KEY,
  check_value bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now()
);
