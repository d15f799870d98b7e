-- compatible: no older node exists.

-- One clock for leases, deadlines and schedules. `shift` is zero; tests move it to stand for minutes and hours.
CREATE TABLE clock (single boolean PRIMARY KEY DEFAULT true CHECK (single), shift interval NOT NULL DEFAULT '0');
INSERT INTO clock DEFAULT VALUES;
CREATE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT now() + (SELECT shift FROM clock) $$;

-- Projects, keys, provider apps, integrations.
CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  app_name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now()
);
CREATE UNIQUE INDEX projects_name ON projects (lower(name));

CREATE TABLE api_keys (
  project_id uuid NOT NULL,
  id text NOT NULL,
  secret_hash bytea NOT NULL,
  label text NOT NULL,
  scopes text[] NOT NULL,
  group_ref text,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX api_keys_id ON api_keys (id);

CREATE TABLE jwt_keys (
  project_id uuid NOT NULL,
  id text NOT NULL,
  label text NOT NULL,
  algorithm text NOT NULL,
  public_key_pem text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
-- A token names its key only; the project follows from it.
CREATE INDEX jwt_keys_id ON jwt_keys (id);

CREATE TABLE provider_apps (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  provider text NOT NULL,
  client_id text NOT NULL,
  client_secret bytea NOT NULL,
  external_ref text,
  scopes text[],
  metadata json NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);

CREATE TABLE integrations (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  provider text NOT NULL,
  latest_revision_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX integrations_name ON integrations (project_id, name);

CREATE TABLE revisions (
  project_id uuid NOT NULL,
  integration_id uuid NOT NULL,
  id uuid NOT NULL,
  spec_version text NOT NULL,
  content json NOT NULL,
  -- Whether reads of objects that this revision removed stop (true), or go on as before.
  destructive boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, integration_id, id)
);

-- Groups, consumers, connections.
CREATE TABLE groups (
  project_id uuid NOT NULL,
  group_ref text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, group_ref)
);

CREATE TABLE consumers (
  project_id uuid NOT NULL,
  consumer_ref text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, consumer_ref)
);

-- credentials: the sealed JSON of the secrets; generation counts each new set, so that a reader knows a newer one.
CREATE TABLE connections (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  provider text NOT NULL,
  provider_app_id uuid,
  group_ref text NOT NULL,
  consumer_ref text NOT NULL,
  workspace_ref text,
  provider_consumer_ref text,
  auth_scheme text NOT NULL,
  status text NOT NULL,
  provider_metadata json NOT NULL DEFAULT '{}',
  scopes text[],
  credentials bytea NOT NULL,
  generation bigint NOT NULL DEFAULT 1,
  access_issued_at timestamptz,
  access_expires_at timestamptz,
  refresh_lease uuid,
  refresh_lease_until timestamptz,
  status_detail text,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX connections_group ON connections (project_id, group_ref, provider, created_at);

-- A started OAuth flow. The state's SHA-256 is the key, so that a dump of the table opens nothing.
CREATE TABLE oauth_flows (
  project_id uuid NOT NULL,
  state_hash bytea NOT NULL,
  request json NOT NULL,
  code_verifier bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, state_hash)
);
CREATE UNIQUE INDEX oauth_flows_state ON oauth_flows (state_hash);
CREATE INDEX oauth_flows_expiry ON oauth_flows (expires_at);

-- Installations and their immutable configs.
CREATE TABLE installations (
  project_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  group_ref text NOT NULL,
  connection_id uuid NOT NULL,
  config_id uuid NOT NULL,
  last_operation_status text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX installations_group ON installations (project_id, integration_id, group_ref);
CREATE INDEX installations_connection ON installations (project_id, connection_id);

CREATE TABLE configs (
  project_id uuid NOT NULL,
  installation_id uuid NOT NULL,
  id uuid NOT NULL,
  revision_id uuid NOT NULL,
  created_by text NOT NULL,
  content json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, installation_id, id)
);
