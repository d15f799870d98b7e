-- The smallest id of what a project still wants kept of a kind of history. With fewer days than the operator keeps, what is older
-- is there until its partition goes, and nobody is shown it.
CREATE OR REPLACE FUNCTION svc_kept_from(project uuid, kind text) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT svc_uuid_floor(svc_now() - days * interval '1 day')
    FROM (SELECT (p.keep_days->>kind)::int AS days FROM project p WHERE p.id = $1) p WHERE days > 0),
    '00000000-0000-0000-0000-000000000000'::uuid)
$$;

-- Whether the project wants anything kept of a kind of history; of messages: their content once they are delivered.
CREATE OR REPLACE FUNCTION svc_keeps(project uuid, kind text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT (p.keep_days->>kind)::int > 0 FROM project p WHERE p.id = $1), true)
$$;

-- Drops the partitions of which every project that has rows there wants nothing kept any more; none that ends within the last
-- `least_days`.
CREATE OR REPLACE FUNCTION svc_drop_unkept(parent text, kind text, least_days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part text;
  first text;
  past uuid;
  is_kept boolean;
  unkept text[] := '{}';
BEGIN
  IF NOT EXISTS (SELECT FROM project p WHERE (p.keep_days->>kind)::int > 0) THEN
    RETURN;
  END IF;
  FOR part IN SELECT relid::regclass::text FROM pg_partition_tree(parent) WHERE isleaf LOOP
    first := substring(part FROM '^' || parent || '_(\d{8}|\d{6})$');
    -- The default partition, which is of no day.
    CONTINUE WHEN first IS NULL;
    past := svc_uuid_floor((CASE length(first) WHEN 6 THEN to_date(first, 'YYYYMM') + interval '1 month'
      ELSE to_date(first, 'YYYYMMDD') + interval '1 day' END) AT TIME ZONE 'UTC');
    CONTINUE WHEN past > svc_uuid_floor(svc_now() - least_days * interval '1 day');
    -- From project to project by the primary key.
    EXECUTE format('WITH RECURSIVE there AS (
        (SELECT project_id FROM %1$I ORDER BY project_id LIMIT 1)
        UNION ALL
        SELECT (SELECT n.project_id FROM %1$I n WHERE n.project_id > t.project_id ORDER BY n.project_id LIMIT 1)
        FROM there t WHERE t.project_id IS NOT NULL)
      SELECT EXISTS (SELECT FROM there t WHERE t.project_id IS NOT NULL AND svc_kept_from(t.project_id, $1) < $2)', part)
    INTO is_kept USING kind, past;
    IF NOT is_kept THEN
      unkept := unkept || part;
    END IF;
  END LOOP;
  FOREACH part IN ARRAY unkept LOOP
    EXECUTE format('DROP TABLE %I', part);
  END LOOP;
END $$;
