import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { notGranted } from './scopes.ts';

// Of those whose app asks for nothing more, no row comes.
const doubtful = statement(
  'connections_doubtful_scopes',
  `SELECT c.id, c.scopes, a.scopes AS app_scopes FROM connection c
   JOIN provider_app a ON a.project_id = c.project_id AND a.id = c.provider_app_id
   WHERE c.project_id = $1 AND c.provider = $2 AND NOT a.scopes <@ c.scopes`,
);

/** The connections to a provider that were not granted all that their app asks for, by scope. */
export async function findMissingScopes(
  db: Queryable,
  projectId: string,
  provider: string,
): Promise<Map<string, string[]>> {
  type Row = { id: string; scopes: string[] | null; app_scopes: string[] | null };
  const found = new Map<string, string[]>();
  for (const row of await db.rows<Row>(doubtful, [projectId, provider]))
    for (const scope of notGranted(row)) found.set(scope, [...(found.get(scope) ?? []), row.id]);
  return found;
}
