-- compatible: adds a column. A flow that one browser opens on a node of one release and ends on one of the other has to be begun again.

-- The SHA-256 hash of the secret in the cookie of the browser that opened the link first: that one alone can end the flow.
ALTER TABLE oauth_flow ADD COLUMN browser_hash bytea;
