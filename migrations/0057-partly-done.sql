-- compatible: adds rows. What older nodes end meanwhile is missing from the list of what was done in part; its page shows it.

-- Operations that are a success although some of their records were not done, or nobody knows.
INSERT INTO operation_mark (project_id, mark, operation_id)
SELECT DISTINCT m.project_id, 'partlyDone', m.operation_id FROM operation_mark m
JOIN operation o ON o.project_id = m.project_id AND o.id = m.operation_id
WHERE m.mark NOT IN ('failure', 'unresolved') AND o.status = 'success'
ON CONFLICT DO NOTHING;
