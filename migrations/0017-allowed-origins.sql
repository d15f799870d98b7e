-- compatible: adds a column with a default.

-- The pages, by their origin, whose scripts may call the management surface with this project's credentials.
ALTER TABLE projects ADD COLUMN allowed_origins text[] NOT NULL DEFAULT '{}';
