import type { Connection } from '../connections/schema.ts';
import type { Installation } from './schema.ts';
import type { InstallationRow } from './store.ts';

export type Health = Installation['healthStatus'];

/** Unhealthy: the connection is gone or its credentials are bad, or the last operation failed (product-api 10). */
export function healthOf(row: Pick<InstallationRow, 'connection_status' | 'last_operation_status'>): Health {
  const { connection_status: connection, last_operation_status: last } = row;
  return connection === null || connection === 'bad_credentials' || last === 'failure'
    ? 'unhealthy'
    : 'healthy';
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
    config: {
      id: row.config_id,
      revisionId: row.revision_id,
      createTime: row.config_created_at.toISOString(),
      createdBy: row.config_created_by,
      content: row.content,
    },
  };
}
