-- compatible: adds rows. What older nodes end meanwhile is missing from the list of what is unresolved; its page shows it.

-- Operations with a record of unknown outcome of which nobody has said what became; the mark goes when somebody has.
INSERT INTO operation_mark (project_id, mark, operation_id)
SELECT m.project_id, 'unresolved', m.operation_id FROM operation_mark m
WHERE m.mark = 'unknownOutcome' AND EXISTS (
  SELECT FROM record r WHERE r.project_id = m.project_id AND r.operation_id = m.operation_id
    AND r.outcome->>'kind' = 'unknown' AND r.resolution IS NULL)
ON CONFLICT DO NOTHING;
