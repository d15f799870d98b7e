import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

// A link is good for 15 minutes after the last attempt.
const results = statement(
  'results_forget',
  `UPDATE message m SET result = NULL, link_hash = NULL
  WHERE m.result IS NOT NULL AND octet_length(m.body) = 0 AND NOT EXISTS (
    SELECT FROM delivery d WHERE d.project_id = m.project_id AND d.message_id = m.id AND d.last_at > svc_now() - interval '1 hour')`,
);

/** The records of messages whose body is gone, and whose link nobody can follow any more. */
export async function forgetResults(db: Queryable): Promise<void> {
  await db.rows(results);
}
