-- compatible: adds a column that may be NULL.

-- When the access token in place was asked for because of a provider's 401: another 401 soon after is not about its age.
ALTER TABLE connections ADD COLUMN unauthorized_at timestamptz;
