import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { ConnectionKey, ConnectionRow } from './store.ts';

// In every project and of every account: a token knows nothing of projects, and an import may name its account as it likes.
const listSealed = statement(
  'connections_list_sealed',
  `SELECT c.project_id, c.id, c.group_ref, c.workspace_ref, c.credentials, a.client_id AS app_client_id FROM connection c
   LEFT JOIN provider_app a ON a.project_id = c.project_id AND a.id = c.provider_app_id
   WHERE c.provider = ANY ($1::text[]) AND (c.project_id, c.id) > ($2, $3)
     AND ($4::float8 IS NULL OR c.updated_at >= svc_now() - $4::float8 * interval '1 ms') ORDER BY c.project_id, c.id LIMIT 500`,
);

/** `app_client_id`: null where no provider app is known. */
export type SealedRow = Pick<
  ConnectionRow,
  'project_id' | 'id' | 'group_ref' | 'workspace_ref' | 'credentials' | 'app_client_id'
>;

/** Sorts before every connection. */
const beforeAll: ConnectionKey = [
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000000',
];

/**
 * Some of the connections to the providers in all projects, those that come next in the order of their keys; none at the end. With
 * `changedMs`: of those that came or changed so long ago at the most.
 */
export function listSealedConnections(
  db: Queryable,
  providers: readonly string[],
  {
    after = beforeAll,
    changedMs = null,
  }: { after?: ConnectionKey | undefined; changedMs?: number | null | undefined },
): Promise<SealedRow[]> {
  return db.rows(listSealed, [providers, ...after, changedMs]);
}
