import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { RetainedObject } from '../projects/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { ConfigContent } from './config/schema.ts';

export interface ConfiguredRow {
  id: string;
  integration_id: string;
  group_ref: string;
  created_at: Date;
  content: ConfigContent;
}

export interface DeclaredRow {
  id: string;
  content: ManifestIntegration;
  retained: RetainedObject[] | null;
}

// LIMIT keeps the look-ups by key apart.
const configured = statement(
  'installations_configured',
  `SELECT n.id, n.integration_id, n.group_ref, n.created_at, c.content FROM unnest($2::uuid[]) AS i(id)
  CROSS JOIN LATERAL (SELECT * FROM installation n WHERE n.project_id = $1 AND n.id = i.id LIMIT 1) n
  CROSS JOIN LATERAL (
    SELECT content FROM config c WHERE c.project_id = $1 AND c.installation_id = n.id AND c.id = n.config_id LIMIT 1) c`,
);

const declared = statement(
  'installations_declared',
  `SELECT n.id, r.content, r.retained FROM unnest($2::uuid[]) AS i(id)
  CROSS JOIN LATERAL (SELECT * FROM integration n WHERE n.project_id = $1 AND n.id = i.id LIMIT 1) n
  CROSS JOIN LATERAL (
    SELECT content, retained FROM revision r
    WHERE r.project_id = $1 AND r.integration_id = n.id AND r.id = n.latest_revision_id LIMIT 1) r`,
);

/** Installations with the configs that are in force. */
export function loadConfigured(
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<ConfiguredRow[]> {
  return db.rows(configured, [projectId, ids]);
}

/** Integrations with what their latest revisions declare. */
export function loadDeclared(
  db: Queryable,
  projectId: string,
  integrationIds: readonly string[],
): Promise<DeclaredRow[]> {
  return db.rows(declared, [projectId, integrationIds]);
}
