-- Each event becomes a message for each destination that its routes lead to, in the transaction that records it. The id of a message
-- follows from those of the event and the destination. While a node holds one of `nodes` (of `projects`, under `leases`), the work of
-- up to `room` messages stands there as started, no more than `each` for one destination with what it has on its way (`busy`,
-- `counts`): for destinations of `types` that work and do not rest. Answers all messages; those that are not started without the
-- number of their work. A destination stays until the commit: its deletion waits, and counts them. The trigger leaves the events of
-- the same statement alone.
CREATE OR REPLACE FUNCTION svc_tell(events event[], projects uuid[], nodes uuid[], leases uuid[], types text[], room int, "each" int,
  busy uuid[], counts int[])
RETURNS TABLE (event_id uuid, message_id uuid, destination_id uuid, work_seq bigint, seq bigint, group_ref text,
  created_at timestamptz, trace text, body text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE clock timestamptz := svc_now();
BEGIN
  PERFORM set_config('svc.told', 'true', true);
  RETURN QUERY
  WITH held AS MATERIALIZED (
    SELECT l.project_id, l.id, l.lease FROM unnest(projects, nodes, leases) AS i(project_id, id, lease)
    CROSS JOIN LATERAL (
      SELECT * FROM lane l
      WHERE l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease AND l.due_at > clock FOR KEY SHARE OF l) l),
  ways AS MATERIALIZED (
    SELECT n.project_id, n.event_type, d.id, h.id AS node, h.lease, "each" - coalesce(b.count, 0) AS room
    FROM (SELECT DISTINCT t.project_id, t.type FROM unnest(events) t) t
    JOIN notified n ON n.project_id = t.project_id AND n.event_type = t.type
    JOIN destination d ON d.project_id = n.project_id AND d.id = n.destination_id
    LEFT JOIN held h ON h.project_id = d.project_id AND d.status = 'active' AND d.failing_since IS NULL AND d.type = ANY (types)
      AND NOT EXISTS (
        SELECT FROM lane l WHERE l.project_id = d.project_id AND l.id = d.id AND (l.paused OR l.not_before > clock))
    LEFT JOIN unnest(busy, counts) AS b(id, count) ON b.id = d.id
    FOR KEY SHARE OF d),
  numbered AS MATERIALIZED (
    SELECT t.*, w.id AS destination_id, w.node, w.lease, (left(t.id::text, 15) || left(h, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12))::uuid
      AS message_id, '{"notificationType":' || to_json(t.type) || ',"data":' || t.data || '}' AS body,
      w.node IS NOT NULL AND row_number() OVER (PARTITION BY w.id ORDER BY t.id) <= w.room AS fits
    FROM unnest(events) t JOIN ways w ON w.project_id = t.project_id AND w.event_type = t.type
    CROSS JOIN md5(t.id::text || w.id) h),
  notifications AS MATERIALIZED (
    SELECT n.*, convert_to(body, 'UTF8') AS bytes, fits AND count(*) FILTER (WHERE fits) OVER (ORDER BY id, destination_id) <= room AS starts
    FROM numbered n),
  messages AS (
    INSERT INTO message (project_id, id, installation_id, group_ref, event_type, destination_id, page, slice, records, bytes,
      encoding, body, keys, created_at)
    SELECT project_id, message_id, installation_id, group_ref, type, destination_id, 0, 0, 0, octet_length(bytes), 0, bytes, '[]', clock
    FROM notifications
    RETURNING id, message.seq),
  works AS (
    INSERT INTO work (project_id, ref, lane_id, home_id, kind, state, attempt, lease, due_at, deadline, trace)
    SELECT project_id, message_id, CASE WHEN starts THEN node ELSE destination_id END, CASE WHEN starts THEN destination_id END,
      'delivery', starts::int, starts::int, CASE WHEN starts THEN lease END, clock, clock + interval '400 days', trace
    FROM notifications ORDER BY id
    RETURNING ref, work.seq, state),
  wakes AS (
    INSERT INTO wake (project_id, lane_id, due_at)
    SELECT project_id, destination_id, clock FROM notifications WHERE NOT starts GROUP BY project_id, destination_id)
  SELECT n.id, n.message_id, n.destination_id, w.seq, m.seq, n.group_ref, clock, n.trace, CASE WHEN n.starts THEN n.body END
  FROM notifications n JOIN messages m ON m.id = n.message_id LEFT JOIN works w ON w.ref = n.message_id AND w.state = 1;
END $$;

CREATE OR REPLACE FUNCTION svc_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('svc.told', true) = 'true' THEN
    PERFORM set_config('svc.told', '', true);
    RETURN NULL;
  END IF;
  IF NOT EXISTS (
    SELECT FROM told t JOIN notified n ON n.project_id = t.project_id AND n.event_type = t.type) THEN
    RETURN NULL;
  END IF;
  PERFORM svc_tell(ARRAY (SELECT ROW (t.*)::event FROM told t), '{}', '{}', '{}', '{}', 0, 0, '{}', '{}');
  PERFORM set_config('svc.told', '', true);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER notify AFTER INSERT ON event REFERENCING NEW TABLE AS told
  FOR EACH STATEMENT EXECUTE FUNCTION svc_notify();

-- The id from which on messages are found by their records: older days stand without the index.
CREATE OR REPLACE FUNCTION svc_messages_indexed_from() RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT coalesce(svc_uuid_floor((max(to_date(right(c.relname, 8), 'YYYYMMDD')) + 1)::timestamp AT TIME ZONE 'UTC'),
    '00000000-0000-0000-0000-000000000000')
  FROM pg_partition_tree('message') t JOIN pg_class c ON c.oid = t.relid
  WHERE t.isleaf AND c.relname ~ '^message_\d{8}$' AND NOT EXISTS (
    SELECT FROM pg_index x JOIN pg_inherits i ON i.inhrelid = x.indexrelid
    WHERE x.indrelid = c.oid AND i.inhparent = 'message_record'::regclass)
$$;
