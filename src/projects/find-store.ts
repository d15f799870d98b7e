import { beginsWith, branch, searchKey, type Found, type Reach, type Sought } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';

const byId = statement(
  'projects_find',
  `${branch(`SELECT 'integration' AS type, id::text, name, id::text AS "integrationId" FROM integration
   WHERE project_id = $1 AND id BETWEEN $2 AND $3`)}
   UNION ALL ${branch(`SELECT 'revision', r.id::text, i.name, i.id::text FROM integration i JOIN revision r
     ON r.project_id = i.project_id AND r.integration_id = i.id
   WHERE i.project_id = $1 AND r.id BETWEEN $2 AND $3`)}
   UNION ALL ${branch(`SELECT 'providerApp', id::text, provider, NULL FROM provider_app
   WHERE $4 AND project_id = $1 AND id BETWEEN $2 AND $3`)}
   UNION ALL ${branch(`SELECT 'connectLink', id::text, group_ref, integration_id::text FROM connect_link
   WHERE $4 AND project_id = $1 AND id BETWEEN $2 AND $3`)}`,
);

const byName = statement(
  'projects_find_named',
  `${branch(`SELECT 'integration' AS type, id::text, name, id::text AS "integrationId" FROM integration
   WHERE ${beginsWith('name', '$2')} ORDER BY ${searchKey('name')}`)}
   UNION ALL ${branch(`SELECT 'apiKey', id, label, NULL FROM api_key WHERE $3 AND project_id = $1 AND id = $2`)}
   UNION ALL ${branch(`SELECT 'jwtKey', id, label, NULL FROM jwt_key WHERE $3 AND project_id = $1 AND id = $2`)}
   UNION ALL ${branch(`SELECT 'apiKey', id, label, NULL FROM api_key
   WHERE $3 AND ${beginsWith('label', '$2')} ORDER BY ${searchKey('label')}`)}`,
);

/** Integrations, their revisions, and for who may do everything keys, apps and links. */
export async function findInProject(
  db: Queryable,
  { projectId, groupRef }: Reach,
  { range, text, isFull }: Sought,
): Promise<Found[]> {
  const isWhole = isFull && groupRef === undefined;
  const [ids, names] = await Promise.all([
    range ? db.rows<Found>(byId, [projectId, range.from, range.to, isWhole]) : [],
    db.rows<Found>(byName, [projectId, text, isWhole]),
  ]);
  return [...ids, ...names];
}
