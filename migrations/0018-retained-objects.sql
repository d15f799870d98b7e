-- compatible: adds a column that may be NULL.

-- Objects that earlier deploys took out of the manifest, as they were: installations made before go on with them.
ALTER TABLE revisions ADD COLUMN retained json;
