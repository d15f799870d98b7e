import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

const forget = statement(
  'operations_forget_owners',
  `DELETE FROM former_installation f WHERE NOT EXISTS (SELECT FROM operation o WHERE o.installation_id = f.id)
    AND f.deleted_at < svc_now() - interval '1 day'`,
);

/** Deleted installations of which no operation is kept any more. What is accepted while one is deleted comes within a day. */
export async function forgetOwners(db: Queryable): Promise<void> {
  await db.rows(forget, []);
}
