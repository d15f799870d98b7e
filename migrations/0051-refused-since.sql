-- compatible: adds a column. A node of the former release condemns a connection at its first refusal.

-- When a renewed access token was first refused by the provider, with no call accepted since.
ALTER TABLE connection ADD COLUMN refused_since timestamptz;
