-- compatible: adds tables, and indexes of small tables.

-- Names as they are searched: by their beginning, whatever the case, byte by byte. In one expression with their project: an index
-- whose first column is the project would be taken for other look-ups, and all of a project be walked.
CREATE INDEX customer_group_ref_search ON customer_group ((project_id::text || lower(group_ref)) COLLATE "C");
CREATE INDEX customer_group_name_search ON customer_group ((project_id::text || lower(name)) COLLATE "C");
CREATE INDEX consumer_ref_search ON consumer ((project_id::text || lower(consumer_ref)) COLLATE "C");
CREATE INDEX consumer_name_search ON consumer ((project_id::text || lower(name)) COLLATE "C");
CREATE INDEX integration_name_search ON integration ((project_id::text || lower(name)) COLLATE "C");
CREATE INDEX api_key_label_search ON api_key ((project_id::text || lower(label)) COLLATE "C");
CREATE INDEX destination_name_search ON destination ((project_id::text || lower(name)) COLLATE "C");
CREATE INDEX topic_name_search ON topic ((project_id::text || lower(name)) COLLATE "C");

-- What needs attention, and is little.
CREATE INDEX connection_bad ON connection (project_id, id) WHERE status = 'bad_credentials';
CREATE INDEX read_feed_paused ON read_feed (project_id) WHERE paused IS NOT NULL;

-- How much of what ended, by time, kind and outcome (`series`), and by how long it took (`bucket`; -1: of no duration). A statement
-- that ends work adds to activity_delta what it ended; a keeper moves that to activity, where each number stands at several
-- grains (seconds).
CREATE TABLE activity_delta (
  project_id uuid NOT NULL,
  at timestamptz NOT NULL,
  series text NOT NULL,
  bucket smallint NOT NULL,
  count integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE activity (
  project_id uuid NOT NULL,
  grain integer NOT NULL,
  at timestamptz NOT NULL,
  series text NOT NULL,
  bucket smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (project_id, grain, at, series, bucket)
) WITH (fillfactor = 70);
CREATE INDEX activity_age ON activity (grain, at);
