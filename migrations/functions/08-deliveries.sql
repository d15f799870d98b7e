-- An event becomes a message for each destination that its routes lead to, in its own transaction. The id of a message follows
-- from those of the event and the destination.
CREATE OR REPLACE FUNCTION svc_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM told t JOIN notified n ON n.project_id = t.project_id AND n.event_type = t.type) THEN
    RETURN NULL;
  END IF;
  WITH notifications AS MATERIALIZED (
    SELECT t.*, d.id AS destination_id, (left(t.id::text, 15) || left(h, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12))::uuid
      AS message_id, convert_to('{"notificationType":' || to_json(t.type) || ',"data":' || t.data || '}', 'UTF8') AS body
    FROM told t JOIN notified n ON n.project_id = t.project_id AND n.event_type = t.type
    JOIN destination d ON d.project_id = n.project_id AND d.id = n.destination_id
    CROSS JOIN md5(t.id::text || d.id) h),
  messages AS (
    INSERT INTO message (project_id, id, installation_id, group_ref, event_type, destination_id, page, slice, records, bytes,
      encoding, body, keys)
    SELECT project_id, message_id, installation_id, group_ref, type, destination_id, 0, 0, 0, octet_length(body), 0, body, '[]'
    FROM notifications),
  works AS (
    INSERT INTO work (project_id, ref, lane_id, kind, due_at, deadline)
    SELECT project_id, message_id, destination_id, 'delivery', svc_now(), svc_now() + interval '400 days'
    FROM notifications ORDER BY id)
  INSERT INTO wake (project_id, lane_id, due_at)
    SELECT project_id, destination_id, svc_now() FROM notifications GROUP BY project_id, destination_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER notify AFTER INSERT ON event REFERENCING NEW TABLE AS told
  FOR EACH STATEMENT EXECUTE FUNCTION svc_notify();
