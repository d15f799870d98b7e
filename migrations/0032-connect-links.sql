-- compatible: adds a table, and a column with a default.

-- A link by which a person of the builder's customer connects and installs on a page of ours. Only hashes: `token_hash` of what stands
-- in the link, `browser_hash` of what the browser that opened a link for one use holds.
CREATE TABLE connect_link (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  token_hash bytea NOT NULL,
  browser_hash bytea,
  integration_id uuid NOT NULL,
  group_ref text NOT NULL,
  group_name text,
  consumer_ref text NOT NULL,
  consumer_name text,
  return_url text,
  single_use boolean NOT NULL,
  expires_at timestamptz NOT NULL,
  opened_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX connect_link_token ON connect_link (token_hash);
CREATE UNIQUE INDEX connect_link_id ON connect_link (id);
CREATE INDEX connect_link_expiry ON connect_link (expires_at);

-- How the project looks to end users: logo and colours.
ALTER TABLE project ADD COLUMN branding json NOT NULL DEFAULT '{}';
