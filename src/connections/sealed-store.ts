import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { ConnectionKey, ConnectionRow } from './store.ts';

// In every project and of every account: a token knows nothing of projects, and an import may name its account as it likes.
const listSealed = statement(
  'connections_list_sealed',
  `SELECT project_id, id, workspace_ref, credentials FROM connection
   WHERE provider = $1 AND (project_id, id) > ($2, $3) ORDER BY project_id, id LIMIT 500`,
);

/** Sorts before every connection. */
const beforeAll: ConnectionKey = [
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000000',
];

/** Some of the connections to a provider in all projects, those that come next in the order of their keys; none at the end. */
export function listSealedConnections(
  db: Queryable,
  provider: string,
  after: ConnectionKey = beforeAll,
): Promise<Pick<ConnectionRow, 'project_id' | 'id' | 'workspace_ref' | 'credentials'>[]> {
  return db.rows(listSealed, [provider, ...after]);
}
