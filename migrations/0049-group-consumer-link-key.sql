-- compatible: adds a table, and a column that may be NULL. The consumers that nodes of the release before keep meanwhile are kept here, too, by a trigger.

-- A person of a group. `consumer` did without the group, so that two groups with a person of one ref shared a name: it stays for
-- nodes of the release before, and nothing else reads it.
CREATE TABLE group_consumer (
  project_id uuid NOT NULL,
  group_ref text NOT NULL,
  consumer_ref text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, group_ref, consumer_ref)
);
CREATE INDEX group_consumer_ref_search ON group_consumer ((project_id::text || lower(consumer_ref)) COLLATE "C");
CREATE INDEX group_consumer_name_search ON group_consumer ((project_id::text || lower(name)) COLLATE "C");

-- Where several groups have the ref, nobody knows whose name it is: each has the ref for a name until it says another.
INSERT INTO group_consumer (project_id, group_ref, consumer_ref, name, created_at, updated_at)
SELECT c.project_id, c.group_ref, c.consumer_ref,
  CASE WHEN count(*) OVER (PARTITION BY c.project_id, c.consumer_ref) = 1 THEN k.name ELSE c.consumer_ref END,
  k.created_at, k.updated_at
FROM (SELECT DISTINCT project_id, group_ref, consumer_ref FROM connection) c
  JOIN consumer k ON k.project_id = c.project_id AND k.consumer_ref = c.consumer_ref;

-- The API key that made a link, with which it ends; NULL for a link of a person, and for one from before.
ALTER TABLE connect_link ADD COLUMN key_id text;
