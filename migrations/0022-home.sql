-- compatible: adds a column that may be NULL.

-- Of work that is accepted as started in the lane of a node: the lane where it belongs, and into which it goes back.
ALTER TABLE work ADD COLUMN home_id uuid;
