-- compatible: adds a column that may be NULL.

-- When a node said last that it seals under the key.
ALTER TABLE master_key ADD COLUMN used_at timestamptz;
