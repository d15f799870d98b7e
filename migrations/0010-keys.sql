-- compatible: adds columns that may be NULL. Nodes of the release before check neither expiry nor issuer.

-- last_used_at: to the minute, written in batches by the nodes that saw the key.
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz, ADD COLUMN expires_at timestamptz;
-- issuer, audience: what the claims `iss` and `aud` of each token must be; NULL is not checked.
ALTER TABLE jwt_keys ADD COLUMN last_used_at timestamptz, ADD COLUMN expires_at timestamptz,
  ADD COLUMN issuer text, ADD COLUMN audience text;

-- What concerns all projects is no longer reached by the key of one: the keys of the first project, which an operator has,
-- keep what they could do.
UPDATE api_keys SET scopes = scopes || ARRAY['operator', 'metrics']
WHERE 'full' = ANY (scopes) AND group_ref IS NULL
  AND project_id = (SELECT id FROM projects ORDER BY created_at, id LIMIT 1);
