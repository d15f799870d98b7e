-- compatible: adds a column that may be NULL. A feed that an older node makes meanwhile gets its connection when its installation changes next.

-- What was read is of the account of this connection: with another one the object is read anew. NULL: that of the installation.
ALTER TABLE read_feed ADD COLUMN connection_id uuid;
UPDATE read_feed f SET connection_id = n.connection_id
  FROM installation n WHERE n.project_id = f.project_id AND n.id = f.installation_id;
