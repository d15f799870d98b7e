-- compatible: adds an index.

-- By what messages are found that carry a record: the hashes of the records' ids, other ones in each project.
CREATE FUNCTION svc_carried_hash(project_id uuid, id text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN hashtextextended(id, uuid_hash_extended(project_id, 0));
CREATE FUNCTION svc_carried_hashes(project_id uuid, keys json) RETURNS bigint[] LANGUAGE sql IMMUTABLE
  RETURN ARRAY (SELECT svc_carried_hash(project_id, key->>0) FROM json_array_elements(keys) key);

-- Of the days that begin after this; on days that are written already, making the index would hold up what is accepted, and
-- `svc_messages_indexed_from` keeps the search from reading their keys. New entries are
-- gathered, and sorted in by whoever adds the last that fits: with the usual 4 MB a page of a read would wait half a second then.
CREATE INDEX message_record ON ONLY message USING gin (svc_carried_hashes(project_id, keys)) WITH (gin_pending_list_limit = 512);
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT relid FROM pg_partition_tree('message') WHERE isleaf LOOP
    CONTINUE WHEN part::text ~ '^message_\d{8}$' AND right(part::text, 8) <= to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD');
    EXECUTE format('CREATE INDEX %I ON %s USING gin (svc_carried_hashes(project_id, keys)) WITH (gin_pending_list_limit = 512)', part || '_svc_carried_hashes_idx', part);
    EXECUTE format('ALTER INDEX message_record ATTACH PARTITION %I', part || '_svc_carried_hashes_idx');
  END LOOP;
END $$;
