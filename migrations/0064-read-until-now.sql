-- compatible: adds a column with a default.

-- Nobody gave the end of the range that is read on demand: what changes before its page comes is read, too.
ALTER TABLE read_run ADD COLUMN until_now boolean NOT NULL DEFAULT false;
