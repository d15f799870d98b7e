-- compatible: adds an index.

-- What is stored late looks for the last erasure of its group and of its project: what was made before that is not kept any more.
CREATE INDEX erasure_until ON erasure (project_id, (coalesce(group_ref, '')), until);
