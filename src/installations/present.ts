import type { Connection } from '../connections/schema.ts';
import type { Installation } from './schema.ts';
import type { InstallationRow } from './store.ts';

export type Health = Installation['healthStatus'];

type HealthFacts = Pick<InstallationRow, 'connection_status' | 'recent_operations' | 'recent_failures'>;

/** One failed operation may be the fault of its record; two failures weigh 1.9. */
const fewFailures = 1.5;

/** Unhealthy: the connection is gone or its credentials are bad, or at least half of the operations of late failed. */
export function healthOf(row: HealthFacts): Health {
  const { connection_status: connection, recent_operations: operations, recent_failures: failures } = row;
  const mostlyFails = failures >= fewFailures && failures * 2 >= operations;
  return connection === null || connection === 'bad_credentials' || mostlyFails ? 'unhealthy' : 'healthy';
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
