import { branch, type Found, type Reach, type Sought } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

const byId = statement(
  'proxy_log_find',
  branch(`SELECT 'proxyCall' AS type, id::text, method || ' ' || path AS name, group_ref AS "groupRef",
     integration_id::text AS "integrationId", installation_id::text AS "installationId"
   FROM proxy_log WHERE project_id = $1 AND id BETWEEN $2 AND $3 AND id >= svc_kept_from($1, 'proxyLogs')
     AND ($4::text IS NULL OR group_ref = $4)`),
);

export async function findProxyCalls(db: Queryable, reach: Reach, { range }: Sought): Promise<Found[]> {
  if (!range) return [];
  return db.rows<Found>(byId, [reach.projectId, range.from, range.to, reach.groupRef ?? null]);
}
