-- compatible: no older node exists.

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
  -- Not before this moment is an idle connection kept alive again: the hold of the node that does it, and the pause after.
  keep_alive_at timestamptz,
  -- When the access token in place was asked for because of a provider's 401: another 401 soon after is not about its age.
  unauthorized_at timestamptz,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX connections_group ON connections (project_id, group_ref, provider, created_at);
CREATE INDEX connections_idle ON connections (provider, coalesce(access_issued_at, created_at)) WHERE status <> 'bad_credentials';

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

-- Connections whose provider said that a limit is reached: nothing queued is sent before closed_until (svc_now). A row is
-- written when a provider answers so, never for a call; nodes keep the open ones in memory.
CREATE TABLE budget (
  project_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  closed_until timestamptz NOT NULL,
  -- The provider locked the token out: a wait too long to sit through.
  locked_out boolean NOT NULL,
  PRIMARY KEY (project_id, connection_id)
) WITH (fillfactor = 60);
CREATE INDEX budget_closed ON budget (closed_until);
