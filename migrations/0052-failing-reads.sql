-- compatible: adds an index of a small table.

-- By what the overview counts the reads that fail.
CREATE INDEX read_feed_failing ON read_feed (project_id) WHERE failures > 0 AND paused IS NULL;
