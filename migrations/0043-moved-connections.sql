-- compatible: older nodes see a moved connection as one whose credentials are not accepted.

-- When an export took the connection along to another server, which renews its tokens from then on: nothing is sent with it here.
ALTER TABLE connection ADD COLUMN moved_at timestamptz;
