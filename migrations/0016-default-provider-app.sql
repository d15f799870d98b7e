-- compatible: adds a column that has a default.

-- The app that a connection is made with when none is named. Until now it was the newest: that one stays.
ALTER TABLE provider_apps ADD COLUMN is_default boolean NOT NULL DEFAULT false;

UPDATE provider_apps SET is_default = true
WHERE (project_id, id) IN (
  SELECT DISTINCT ON (project_id, provider) project_id, id FROM provider_apps
  ORDER BY project_id, provider, created_at DESC, id DESC);

CREATE UNIQUE INDEX provider_apps_default ON provider_apps (project_id, provider) WHERE is_default;
