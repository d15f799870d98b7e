-- compatible: a table is partitioned under the name and with the columns that it had.

-- Events go with the partition of their day. Those from before are moved to the days that are there, and go from the default
-- partition when they are old.
ALTER TABLE event RENAME TO event_before;
CREATE TABLE event (LIKE event_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (id);
CREATE TABLE event_default PARTITION OF event DEFAULT;
INSERT INTO event SELECT * FROM event_before;
DROP TABLE event_before;
ALTER TABLE event ADD PRIMARY KEY (project_id, id);
CREATE INDEX event_connection ON event (project_id, connection_id, id);
