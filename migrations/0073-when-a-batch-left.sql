-- compatible: adds a column that may be NULL.

-- Of an auto-batch, when it left or was refused: its place among what was accepted, whenever it was opened. NULL: it gathers, left before this column, or
-- was accepted as work.
ALTER TABLE operation ADD COLUMN left_at timestamptz;
