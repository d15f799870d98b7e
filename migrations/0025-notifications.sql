-- compatible: adds tables, a view and a column that may be NULL, and lets columns be NULL.

-- Which events are told, and where. Topics stand between the two; notification_route leads there directly.
CREATE TABLE topic (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX topic_name ON topic (project_id, lower(name));

CREATE TABLE event_topic_route (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  event_type text NOT NULL,
  topic_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX event_topic_route_once ON event_topic_route (project_id, event_type, topic_id);

CREATE TABLE topic_destination_route (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  topic_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX topic_destination_route_once ON topic_destination_route (project_id, topic_id, destination_id);

CREATE TABLE notification_route (
  project_id uuid NOT NULL,
  event_type text NOT NULL,
  destination_id uuid NOT NULL,
  PRIMARY KEY (project_id, event_type, destination_id)
);

-- Each destination once, however many routes lead there.
CREATE VIEW notified AS
  SELECT project_id, event_type, destination_id FROM notification_route
  UNION
  SELECT e.project_id, e.event_type, t.destination_id
  FROM event_topic_route e JOIN topic_destination_route t ON t.project_id = e.project_id AND t.topic_id = e.topic_id;

-- A message that tells of an event holds no records. What concerns a destination belongs to no group and no installation.
ALTER TABLE message ADD COLUMN event_type text;
ALTER TABLE message ALTER COLUMN installation_id DROP NOT NULL, ALTER COLUMN group_ref DROP NOT NULL,
  ALTER COLUMN object DROP NOT NULL;
