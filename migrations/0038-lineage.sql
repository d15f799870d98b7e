-- compatible: adds a table.

-- The server and database that the nodes worked with last, and when: one row, made by the first node. A database that was
-- restored from a backup stands elsewhere, or on another timeline, or goes back in time. While it is held no node works.
CREATE TABLE lineage (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  system_id text NOT NULL,
  database_oid bigint NOT NULL,
  timeline text NOT NULL,
  seen_at timestamptz NOT NULL,
  held_since timestamptz,
  held_because text
);
