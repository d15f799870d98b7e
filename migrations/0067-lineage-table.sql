-- compatible: adds a column that may be NULL, which older nodes leave as it is.

-- The id of this table, as the nodes saw it last: a dump that is restored makes the table anew, also in the database that it was
-- made of. Noted by the first node that looks. No migration may make the table anew.
ALTER TABLE lineage ADD COLUMN table_oid bigint;
