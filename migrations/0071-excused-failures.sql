-- compatible: adds a column that former nodes leave alone.

-- Of `failures`, the runs that failed for credentials: they do not count towards a pause.
ALTER TABLE read_feed ADD COLUMN excused integer NOT NULL DEFAULT 0;
