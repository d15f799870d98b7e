import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { ConnectionStatus } from '../connections/schema.ts';
import type { RetainedObject } from '../projects/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { ConfigContent } from './config/schema.ts';
import { isUnhealthy } from './store.ts';

export interface TargetRow {
  /** Which of the keys asked for, from 1. */
  slot: number;
  project_id: string;
  integration_id: string;
  integration_name: string;
  provider: string;
  revision_id: string;
  manifest: ManifestIntegration;
  retained: RetainedObject[] | null;
  installation_id: string;
  created_at: Date;
  group_ref: string;
  config_id: string;
  content: ConfigContent;
  connection_id: string;
  connection_status: ConnectionStatus | null;
  connection_detail: string | null;
  connection_is_moved: boolean;
  unhealthy: boolean;
}

/** One installation that is asked for: by its id, or by group and integration id or name. */
export interface TargetKey {
  projectId: string;
  installationId?: string;
  integrationId?: string;
  integrationName?: string;
  groupRef?: string;
}

const load = statement(
  'installations_load_targets',
  `WITH asked AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY
       AS t (project_id, installation_id, integration_id, integration_name, group_ref, slot)
   ), found AS (
     SELECT slot, project_id, installation_id FROM asked WHERE installation_id IS NOT NULL
     UNION ALL
     SELECT a.slot, a.project_id, n.id FROM asked a
       JOIN installation n ON n.project_id = a.project_id AND n.integration_id = a.integration_id AND n.group_ref = a.group_ref
     UNION ALL
     SELECT a.slot, a.project_id, n.id FROM asked a
       JOIN integration i ON i.project_id = a.project_id AND i.name = a.integration_name
       JOIN installation n ON n.project_id = a.project_id AND n.integration_id = i.id AND n.group_ref = a.group_ref
   )
   SELECT found.slot::integer AS slot, n.project_id, n.integration_id, i.name AS integration_name, i.provider, r.id AS revision_id,
     r.content AS manifest, r.retained, n.id AS installation_id, n.created_at, n.group_ref, n.config_id, c.content, n.connection_id,
     k.status AS connection_status, k.status_detail AS connection_detail,
     k.moved_at IS NOT NULL AS connection_is_moved, ${isUnhealthy} AS unhealthy
   FROM found
   JOIN installation n ON n.project_id = found.project_id AND n.id = found.installation_id
   JOIN integration i ON i.project_id = n.project_id AND i.id = n.integration_id
   JOIN revision r ON r.project_id = i.project_id AND r.integration_id = i.id AND r.id = i.latest_revision_id
   JOIN config c ON c.project_id = n.project_id AND c.installation_id = n.id AND c.id = n.config_id
   LEFT JOIN connection k ON k.project_id = n.project_id AND k.id = n.connection_id`,
);

/** Existing targets, each with the index of its key. */
export function loadTargetRows(db: Queryable, keys: readonly TargetKey[]): Promise<TargetRow[]> {
  return db.rows<TargetRow>(load, [
    keys.map((key) => key.projectId),
    keys.map((key) => key.installationId ?? null),
    keys.map((key) => key.integrationId ?? null),
    keys.map((key) => key.integrationName ?? null),
    keys.map((key) => key.groupRef ?? null),
  ]);
}
