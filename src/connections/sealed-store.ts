import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { ConnectionKey, ConnectionRow } from './store.ts';

// In every project and of every account: a token knows nothing of projects, and an import may name its account as it likes.
const listSealed = statement(
  'connections_list_sealed',
  `SELECT project_id, id, group_ref, provider_app_id, workspace_ref, credentials FROM connection
   WHERE provider = $1 AND (project_id, id) > ($2, $3)
     AND ($4::float8 IS NULL OR updated_at >= svc_now() - $4::float8 * interval '1 ms') ORDER BY project_id, id LIMIT 500`,
);

export type SealedRow = Pick<
  ConnectionRow,
  'project_id' | 'id' | 'group_ref' | 'provider_app_id' | 'workspace_ref' | 'credentials'
>;

/** Sorts before every connection. */
const beforeAll: ConnectionKey = [
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000000',
];

/**
 * Some of the connections to a provider in all projects, those that come next in the order of their keys; none at the end. With
 * `changedMs`: of those that came or changed so long ago at the most.
 */
export function listSealedConnections(
  db: Queryable,
  provider: string,
  {
    after = beforeAll,
    changedMs = null,
  }: { after?: ConnectionKey | undefined; changedMs?: number | null | undefined },
): Promise<SealedRow[]> {
  return db.rows(listSealed, [provider, ...after, changedMs]);
}
