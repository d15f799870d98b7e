-- compatible: adds a column that may be NULL.

-- Which generation of credentials opened the window: what calls tell of a limit that carried older ones does not close it.
ALTER TABLE budget ADD COLUMN opened_generation bigint;
