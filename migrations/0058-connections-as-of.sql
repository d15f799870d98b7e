-- compatible: adds a column with a default. What older nodes sign in anew meanwhile keeps its time.

-- As of when the credentials are known here: given here, taken back here, or handed over to here or from here by an export with move.
-- A file hands them over only to where they are known as of before it. Rows from before count as of this migration.
ALTER TABLE connection ADD COLUMN as_of timestamptz NOT NULL DEFAULT now(),
  -- Whether the credentials were dead already when an export moved the connection away.
  ADD COLUMN moved_dead boolean NOT NULL DEFAULT false;

UPDATE connection SET as_of = moved_at WHERE moved_at IS NOT NULL;
