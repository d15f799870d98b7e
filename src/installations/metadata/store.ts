import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ManifestIntegration } from '../../projects/schema.ts';

export interface RevisionRow {
  id: string;
  spec_version: string;
  content: ManifestIntegration;
  created_at: Date;
}

const readRevision = statement(
  'installations_read_revision',
  `SELECT id, spec_version, content, created_at FROM revision
   WHERE project_id = $1 AND integration_id = $2 AND id = $3`,
);

/** One revision of the integration, be it the latest or not. */
export async function findRevision(
  db: Queryable,
  projectId: string,
  integrationId: string,
  id: string,
): Promise<RevisionRow | undefined> {
  return (await db.rows<RevisionRow>(readRevision, [projectId, integrationId, id]))[0];
}
