import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { branch, type Found, type Sought } from './found.ts';
import type { Reach } from './reach.ts';

const byId = statement(
  'events_find',
  `${branch(`SELECT 'event' AS type, id::text, type AS name, group_ref AS "groupRef", installation_id::text AS "installationId" FROM event
   WHERE project_id = $1 AND id BETWEEN $2 AND $3 AND id >= svc_kept_from($1, 'events') AND ($4::text IS NULL OR group_ref = $4)`)}
   UNION ALL ${branch(`SELECT 'auditEntry', id::text, action, NULL, NULL FROM audit_log
   WHERE $5 AND project_id = $1 AND id BETWEEN $2 AND $3`)}`,
);

export async function findEvents(db: Queryable, reach: Reach, { range, isFull }: Sought): Promise<Found[]> {
  if (!range) return [];
  const { projectId, groupRef = null } = reach;
  return db.rows<Found>(byId, [projectId, range.from, range.to, groupRef, isFull && groupRef === null]);
}
