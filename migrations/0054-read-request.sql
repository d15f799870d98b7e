-- compatible: adds a column that may be missing.

-- Of a run that somebody asked for: the id of the request, for the log.
ALTER TABLE read_run ADD COLUMN request_id text;
