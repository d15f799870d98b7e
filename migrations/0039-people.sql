-- compatible: adds tables, and columns that may be absent.

-- Who signs in with a browser. `password`: a hash in the form of a PHC string; absent for who signs in elsewhere only.
-- `operator`: reaches what concerns all projects, too.
CREATE TABLE person (
  id uuid PRIMARY KEY,
  email text NOT NULL CHECK (email = lower(email)),
  name text,
  password text,
  operator boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now()
);
CREATE UNIQUE INDEX person_email ON person (email);

-- What a person proves beside the password, asked for once it was confirmed. `totp_step` is the time of the last code that was
-- taken; of the recovery codes that were not used yet there are digests only, in hex.
CREATE TABLE second_factor (
  person_id uuid PRIMARY KEY,
  totp_secret bytea NOT NULL,
  totp_step bigint NOT NULL DEFAULT 0,
  confirmed_at timestamptz,
  recovery_hashes text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT svc_now()
);

-- Who a person is at an OpenID provider.
CREATE TABLE person_identity (
  issuer text NOT NULL,
  subject text NOT NULL,
  person_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX person_identity_person ON person_identity (person_id);

-- A browser in which somebody signed in. Of the token in its cookie there is a digest only. `pending`: the password was right,
-- and the second factor is still to come. `seen_at` to the minute, written in batches.
CREATE TABLE person_session (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL,
  token_hash bytea NOT NULL,
  pending boolean NOT NULL DEFAULT false,
  address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  seen_at timestamptz NOT NULL DEFAULT svc_now(),
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX person_session_token ON person_session (token_hash);
CREATE INDEX person_session_person ON person_session (person_id);
CREATE INDEX person_session_expiry ON person_session (expires_at);

-- What a person may do in a project.
CREATE TABLE member (
  project_id uuid NOT NULL,
  person_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  updated_at timestamptz NOT NULL DEFAULT svc_now(),
  PRIMARY KEY (project_id, person_id)
);
CREATE INDEX member_person ON member (person_id);

-- A link by which somebody becomes a member, for one use. `project_id` is absent in the link of a first owner, who becomes one of
-- every project and an operator; `person_id` is there in a link that lets somebody choose a new password.
CREATE TABLE invitation (
  id uuid PRIMARY KEY,
  project_id uuid,
  person_id uuid,
  email text,
  role text,
  token_hash bytea NOT NULL,
  invited_by text,
  created_at timestamptz NOT NULL DEFAULT svc_now(),
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX invitation_token ON invitation (token_hash);
CREATE INDEX invitation_project ON invitation (project_id, id);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- How often signing in failed, by a digest of what was tried (an e-mail address, whether or not it is known, or a network
-- address), and until when it is not looked at again.
CREATE TABLE sign_in_failure (
  key text PRIMARY KEY,
  failures integer NOT NULL,
  blocked_until timestamptz NOT NULL,
  last_at timestamptz NOT NULL
);
CREATE INDEX sign_in_failure_last ON sign_in_failure (last_at);

-- The person who acted, and their address at that time.
ALTER TABLE audit_log ADD COLUMN person_id uuid, ADD COLUMN email text;
CREATE INDEX audit_log_person ON audit_log (project_id, person_id, id) WHERE person_id IS NOT NULL;
