-- compatible: adds a column.

-- When an answer took the flow, which ends it: the page of a link that is over says whether it was used or came too late.
ALTER TABLE oauth_flow ADD COLUMN used_at timestamptz;
