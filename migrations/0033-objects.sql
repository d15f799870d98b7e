-- compatible: adds a column that may be NULL and indexes, and makes one anew with its columns in another order.

-- Not project first: with it, a plan that was made while there were few destinations takes it instead of the key, and walks all
-- of a project for each.
DROP INDEX destination_name;
CREATE UNIQUE INDEX destination_name ON destination (lower(name), project_id);

-- The provider's name of the object, where it is delivered under another one.
ALTER TABLE message ADD COLUMN raw_object text;

-- Of the days that begin after this; on days that are written already, making an index would hold up what is accepted, and a list
-- walks their primary key until they are dropped.
CREATE INDEX message_object ON ONLY message (object, id) WHERE object IS NOT NULL;
CREATE INDEX message_raw_object ON ONLY message (raw_object, id) WHERE raw_object IS NOT NULL;
DO $$
DECLARE
  part regclass;
  field text;
BEGIN
  FOR part IN SELECT relid FROM pg_partition_tree('message') WHERE isleaf LOOP
    CONTINUE WHEN part::text ~ '^message_\d{8}$' AND right(part::text, 8) <= to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD');
    FOREACH field IN ARRAY ARRAY ['object', 'raw_object'] LOOP
      EXECUTE format('CREATE INDEX %1$I ON %2$s (%3$I, id) WHERE %3$I IS NOT NULL', part || '_' || field || '_id_idx', part, field);
      EXECUTE format('ALTER INDEX %I ATTACH PARTITION %I', 'message_' || field, part || '_' || field || '_id_idx');
    END LOOP;
  END LOOP;
END $$;
