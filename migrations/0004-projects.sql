-- compatible: no older node exists.

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  app_name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  -- The pages, by their origin, whose scripts may call the management surface with this project's credentials.
  allowed_origins text[] NOT NULL DEFAULT '{}'
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
  -- To the minute, written in batches by the nodes that saw the key.
  last_used_at timestamptz,
  expires_at timestamptz,
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
  last_used_at timestamptz,
  expires_at timestamptz,
  -- What the claims `iss` and `aud` of each token must be; NULL is not checked.
  issuer text,
  audience text,
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
  -- The app that a connection is made with when none is named.
  is_default boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX provider_apps_default ON provider_apps (project_id, provider) WHERE is_default;

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
  -- Objects that earlier deploys took out of the manifest, as they were: installations made before go on with them.
  retained json,
  PRIMARY KEY (project_id, integration_id, id)
);
