import { chosenOf, erasedOf, eraserBy, ofChosen } from '../../kit/db/erasing.ts';
import { openable } from '../../kit/db/openable.ts';
import { statement } from '../../kit/db/statement.ts';
import { recordHash } from './parts.ts';

const erase = statement(
  'operations_erase',
  `WITH ${chosenOf('operation', `${openable('t.request')}->>'groupRef'`, "t.status <> 'in_progress'")},
  records AS (DELETE FROM record r WHERE ${ofChosen('operation_id')} RETURNING operation_id, ${recordHash('r')} AS hash),
  remembered AS (
    DELETE FROM written_record w USING (SELECT DISTINCT * FROM records) r
    WHERE w.project_id = $1 AND w.hash = r.hash AND w.operation_id = r.operation_id),
  logs AS (DELETE FROM operation_log WHERE ${ofChosen('operation_id')} RETURNING 1),
  marks AS (DELETE FROM operation_mark WHERE ${ofChosen('operation_id')}),
  answers AS (
    UPDATE idempotency SET status = NULL, response = NULL
    WHERE project_id = $1 AND response IS NOT NULL AND operation_id = ANY (ARRAY (SELECT id FROM chosen))),
  owners AS (DELETE FROM former_installation f WHERE f.project_id = $1 AND ($2::text IS NULL OR f.group_ref = $2)),
  operations AS (DELETE FROM operation WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['operations', 'records', 'logs'])}`,
);

/** With records, logs and the answers that keys repeat; the keys stay, so that nothing is done twice. What is under way stays. */
export const eraseOperations = eraserBy(erase);
