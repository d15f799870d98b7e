-- compatible: adds columns that may be NULL or have a default. What older nodes sign in anew meanwhile keeps its time, and is not known as signed in.

-- When the credentials were last signed in, here or where a file came from; NULL where that is not known. Of two servers the newest sign-in is kept.
ALTER TABLE connection ADD COLUMN signed_in_at timestamptz,
  -- Whether the credentials came by a file and were not signed in here since: the server that they came from may use them.
  ADD COLUMN came_in boolean NOT NULL DEFAULT false;

-- Rows from before count as of when they were made, the same at every server that has them: what moved away since comes in place of them.
UPDATE connection SET as_of = created_at WHERE moved_at IS NULL;
