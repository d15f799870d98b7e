import type { Destination } from './schema.ts';
import type { DestinationRow } from './store/destinations.ts';

/** On the wire; with secrets only for whoever may see them. */
export function presentDestination(row: DestinationRow, secrets?: object): Destination {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    type: row.type,
    metadata: row.metadata,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.failing_since === null ? {} : { failingSince: row.failing_since.toISOString() }),
    ...(secrets === undefined ? {} : { secrets: { ...secrets } }),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
