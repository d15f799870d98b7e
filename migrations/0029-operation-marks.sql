-- compatible: adds a table. What older nodes end as failed meanwhile is missing from lists by status `failure` and by category.

-- By what an operation that did not go well is found: `failure`, its status, and the categories of its errors. It stands beside the
-- operation, so that what went well pays nothing for it, and no index of the operation hinders its update.
CREATE TABLE operation_mark (
  project_id uuid NOT NULL,
  mark text NOT NULL,
  operation_id uuid NOT NULL,
  PRIMARY KEY (project_id, mark, operation_id)
) PARTITION BY RANGE (operation_id);

-- Those from before stay in the default partition until they are old.
CREATE TABLE operation_mark_default PARTITION OF operation_mark DEFAULT;
INSERT INTO operation_mark (project_id, mark, operation_id)
SELECT o.project_id, m.mark, o.id FROM operation o
CROSS JOIN LATERAL (
  SELECT 'failure' AS mark WHERE o.status = 'failure'
  UNION
  SELECT e->>'category' FROM json_array_elements(o.errors) e WHERE e->>'category' IS NOT NULL) m
WHERE o.status <> 'in_progress' AND (o.status = 'failure' OR o.errors IS NOT NULL);
