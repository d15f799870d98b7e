import type { Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { documentPage, type Followed } from '../kit/db/document-page.ts';
import { statement } from '../kit/db/statement.ts';
import type { ConnectionStatus } from '../connections/schema.ts';
import type { ConfigContent } from './config/schema.ts';

/** An installation with its group, the status of its connection and its current config. */
export interface InstallationRow {
  project_id: string;
  id: string;
  integration_id: string;
  group_ref: string;
  group_name: string;
  group_created_at: Date;
  group_updated_at: Date;
  connection_id: string;
  /** Null when the connection is gone. */
  connection_status: ConnectionStatus | null;
  last_operation_status: OperationStatus | null;
  unhealthy: boolean;
  created_by: string;
  created_at: Date;
  updated_at: Date;
  config_id: string;
  revision_id: string;
  config_created_by: string;
  config_created_at: Date;
  content: ConfigContent;
}

/**
 * Of the installation `n` with its connection `k`: that is gone or has bad credentials, or at least half of the operations of late
 * failed. One may have failed by the fault of its record; two failures weigh 1.9.
 */
export const isUnhealthy = `(k.status IS NULL OR k.status = 'bad_credentials'
    OR (n.recent_failures >= 1.5 AND n.recent_failures * 2 >= n.recent_operations))`;

export type OperationStatus = 'success' | 'failure' | 'in_progress';

export const columns = `n.project_id, n.id, n.integration_id, n.group_ref, n.connection_id, k.status AS connection_status,
  n.last_operation_status, ${isUnhealthy} AS unhealthy, n.created_by, n.created_at, n.updated_at, n.config_id, c.revision_id,
  c.created_by AS config_created_by, c.created_at AS config_created_at, c.content,
  coalesce(g.name, n.group_ref) AS group_name, coalesce(g.created_at, n.created_at) AS group_created_at,
  coalesce(g.updated_at, n.created_at) AS group_updated_at`;

/** Of an installation `n`, what else stands in its row. */
export const joined = `JOIN config c ON c.project_id = n.project_id AND c.installation_id = n.id AND c.id = n.config_id
  LEFT JOIN customer_group g ON g.project_id = n.project_id AND g.group_ref = n.group_ref
  LEFT JOIN connection k ON k.project_id = n.project_id AND k.id = n.connection_id`;

const read = statement(
  'installations_read',
  `SELECT ${columns} FROM installation n ${joined}
   WHERE n.project_id = $1 AND n.id = $2 AND ($3::text IS NULL OR n.group_ref = $3)`,
);

// Held until the transaction ends, so that the connection is not deleted while an installation is added.
const holdConnection = statement(
  'installations_hold_connection',
  `SELECT status, moved_at IS NOT NULL AS is_moved FROM connection WHERE project_id = $1 AND id = $2 FOR KEY SHARE`,
);

// The same for its integration, which is not revised meanwhile either: a deploy notes and counts what is installed when it is made.
const holdIntegration = statement(
  'installations_hold_integration',
  `SELECT FROM integration WHERE project_id = $1 AND id = $2 FOR SHARE`,
);

const insert = statement(
  'installations_insert',
  `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

const insertConfig = statement(
  'installations_insert_config',
  `INSERT INTO config (project_id, installation_id, id, revision_id, created_by, content)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

const follow = statement(
  'installations_follow',
  `UPDATE installation SET config_id = $4, connection_id = $5, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 AND config_id = $3 RETURNING id`,
);

const configs = statement(
  'installations_configs',
  documentPage({
    ids: `SELECT id FROM config WHERE project_id = $1 AND installation_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4`,
    bytes: `SELECT octet_length(content::text) FROM config
      WHERE project_id = $1 AND installation_id = $2 AND id = page.id`,
    row: `SELECT id, revision_id, created_by, created_at, content FROM config
      WHERE project_id = $1 AND installation_id = $2 AND id = page.id`,
  }),
);

// Whoever brings configs of it holds it, too.
const hold = statement(
  'installations_hold',
  'SELECT FROM installation WHERE project_id = $1 AND id = $2 FOR UPDATE',
);

/** Its operations are found by their group as long as they are kept. */
const remembered = `remembered AS (
       INSERT INTO former_installation (project_id, id, integration_id, group_ref) SELECT $1, id, integration_id, group_ref FROM gone)`;

const remove = statement(
  'installations_delete',
  `WITH gone AS (
       DELETE FROM installation WHERE project_id = $1 AND id = $2 RETURNING id, connection_id, integration_id, group_ref),
     ${remembered},
     configs_gone AS (DELETE FROM config WHERE project_id = $1 AND installation_id IN (SELECT id FROM gone))
   SELECT connection_id FROM gone`,
);

const removeOf = statement(
  'installations_delete_of_integration',
  `WITH gone AS (
       DELETE FROM installation WHERE project_id = $1 AND integration_id = $2 RETURNING id, integration_id, group_ref),
     ${remembered}
   DELETE FROM config WHERE project_id = $1 AND installation_id IN (SELECT id FROM gone)`,
);

const idsOf = statement(
  'installations_ids_of_integration',
  `SELECT id FROM installation WHERE project_id = $1 AND integration_id = $2`,
);

const installed = statement(
  'installations_exist_of',
  `SELECT 1 FROM installation WHERE project_id = $1 AND integration_id = ANY ($2::uuid[]) LIMIT 1`,
);

const usesConnection = statement(
  'installations_use_connection',
  `SELECT 1 FROM installation WHERE project_id = $1 AND connection_id = $2 LIMIT 1`,
);

// Writes no row while nothing fails: the counts are at their limit of ten.
const endOperations = statement(
  'installations_end_operations',
  `UPDATE installation SET last_operation_status = $3,
     recent_operations = recent_operations * power(0.9, $4::float8) + 10 * (1 - power(0.9, $4::float8)),
     recent_failures = recent_failures * power(0.9, $4::float8)
       + 10 * (1 - power(0.9, $4::float8)) * $5::float8 / $4::float8
   WHERE project_id = $1 AND id = $2 AND (last_operation_status IS DISTINCT FROM $3 OR $5::float8 > 0
     OR recent_failures > 0.01 OR recent_operations < 9.9)`,
);

export async function readInstallation(
  db: Queryable,
  { projectId, groupRef }: Reach,
  id: string,
): Promise<InstallationRow | undefined> {
  return (await db.rows<InstallationRow>(read, [projectId, id, groupRef ?? null]))[0];
}

/** How the connection is; undefined when it is gone. */
export async function heldConnection(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<{ status: ConnectionStatus; is_moved: boolean } | undefined> {
  return (await tx.rows<{ status: ConnectionStatus; is_moved: boolean }>(holdConnection, [projectId, id]))[0];
}

/** False when the integration is gone. It does not go, and no deploy revises it, until the transaction ends. */
export async function heldIntegration(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await tx.rows(holdIntegration, [projectId, id])).length > 0;
}

export interface NewConfig {
  id: string;
  revisionId: string;
  createdBy: string;
  content: ConfigContent;
}

export interface NewInstallation {
  projectId: string;
  id: string;
  integrationId: string;
  groupRef: string;
  connectionId: string;
  createdBy: string;
}

/** Fails with SQLSTATE 23505 when the group has an installation of the integration already. */
export async function insertInstallation(
  tx: Queryable,
  made: NewInstallation,
  config: NewConfig,
): Promise<void> {
  const { projectId, id, integrationId, groupRef, connectionId, createdBy } = made;
  await tx.rows(insert, [projectId, id, integrationId, groupRef, connectionId, config.id, createdBy]);
  await saveConfig(tx, projectId, id, config);
}

/** Makes the config current; false when another change came first. */
export async function followConfig(
  tx: Queryable,
  before: Pick<InstallationRow, 'project_id' | 'id' | 'config_id'>,
  config: NewConfig,
  connectionId: string,
): Promise<boolean> {
  const rows = await tx.rows(follow, [
    before.project_id,
    before.id,
    before.config_id,
    config.id,
    connectionId,
  ]);
  if (rows.length === 0) return false;
  await saveConfig(tx, before.project_id, before.id, config);
  return true;
}

async function saveConfig(
  tx: Queryable,
  projectId: string,
  installationId: string,
  config: NewConfig,
): Promise<void> {
  const content = JSON.stringify(config.content);
  await tx.rows(insertConfig, [
    projectId,
    installationId,
    config.id,
    config.revisionId,
    config.createdBy,
    content,
  ]);
}

export interface ConfigRow {
  id: string;
  revision_id: string;
  created_by: string;
  created_at: Date;
  content: ConfigContent;
}

/** What the installation was configured to, the newest first, below `beforeId`; as much as fits a page. */
export function listConfigs(
  db: Queryable,
  { project_id: projectId, id }: Pick<InstallationRow, 'project_id' | 'id'>,
  { beforeId, limit }: { beforeId: string; limit: number },
): Promise<(ConfigRow & Followed)[]> {
  return db.rows<ConfigRow & Followed>(configs, [projectId, id, beforeId, limit]);
}

/** Nothing comes to it any more until the transaction ends; false when it is gone. */
export async function holdInstallation(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await tx.rows(hold, [projectId, id])).length > 0;
}

/** The connection that it used; undefined when there was no such installation. */
export async function deleteInstallation(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<string | undefined> {
  return (await db.rows<{ connection_id: string }>(remove, [projectId, id]))[0]?.connection_id;
}

/** Every installation of an integration that is being deleted, in its transaction. */
export async function deleteInstallationsOf(
  tx: Queryable,
  projectId: string,
  integrationId: string,
): Promise<void> {
  await tx.rows(removeOf, [projectId, integrationId]);
}

export async function installationIdsOf(
  tx: Queryable,
  projectId: string,
  integrationId: string,
): Promise<string[]> {
  return (await tx.rows<{ id: string }>(idsOf, [projectId, integrationId])).map(({ id }) => id);
}

/** Whether one of the integrations has an installation. */
export async function areInstalled(
  db: Queryable,
  projectId: string,
  integrationIds: readonly string[],
): Promise<boolean> {
  return (await db.rows(installed, [projectId, integrationIds])).length > 0;
}

export async function isConnectionUsed(
  db: Queryable,
  projectId: string,
  connectionId: string,
): Promise<boolean> {
  return (await db.rows(usesConnection, [projectId, connectionId])).length > 0;
}

/** Operations of an installation that ended, and how the last of them did. */
export interface OperationsEnded {
  projectId: string;
  installationId: string;
  last: OperationStatus;
  ended: number;
  failed: number;
}

/** The health of the installation derives from this. */
export async function recordOperationsEnd(db: Queryable, of: OperationsEnded): Promise<void> {
  const { projectId, installationId, last, ended, failed } = of;
  await db.rows(endOperations, [projectId, installationId, last, ended, failed]);
}
