-- compatible: adds a column that may be NULL.

-- When new credentials opened the window: what calls tell of a limit that began before does not close it.
ALTER TABLE budget ADD COLUMN opened_at timestamptz;

CREATE INDEX budget_opened ON budget (opened_at) WHERE opened_at IS NOT NULL;
