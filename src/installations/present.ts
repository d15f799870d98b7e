import type { Connection } from '../connections/schema.ts';
import type { Config, Installation } from './schema.ts';
import type { ConfigRow, InstallationRow } from './store.ts';

export type Health = Installation['healthStatus'];

export function healthOf({ unhealthy }: Pick<InstallationRow, 'unhealthy'>): Health {
  return unhealthy ? 'unhealthy' : 'healthy';
}

/** The installation on the wire; `connection` is undefined when it is gone. */
export function presentInstallation(row: InstallationRow, connection: Connection | undefined): Installation {
  return {
    id: row.id,
    projectId: row.project_id,
    integrationId: row.integration_id,
    group: {
      groupRef: row.group_ref,
      groupName: row.group_name,
      projectId: row.project_id,
      createTime: row.group_created_at.toISOString(),
      updateTime: row.group_updated_at.toISOString(),
    },
    healthStatus: healthOf(row),
    ...(row.last_operation_status ? { lastOperationStatus: row.last_operation_status } : {}),
    ...(connection ? { connection } : {}),
    createTime: row.created_at.toISOString(),
    createdBy: row.created_by,
    updateTime: row.updated_at.toISOString(),
    config: presentConfig({
      ...row,
      id: row.config_id,
      created_at: row.config_created_at,
      created_by: row.config_created_by,
    }),
  };
}

export function presentConfig(row: ConfigRow): Config {
  return {
    id: row.id,
    revisionId: row.revision_id,
    createTime: row.created_at.toISOString(),
    createdBy: row.created_by,
    content: row.content,
  };
}
