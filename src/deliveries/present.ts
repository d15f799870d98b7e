import { maySeeSecrets, type Principal } from '../projects/index.ts';
import { kinds } from './kinds.ts';
import type { Destination } from './schema.ts';
import type { DestinationRow } from './store/destinations.ts';

/** On the wire, for whoever reads: what its metadata holds of secrets is shown to who may see them. */
export function presentFor(principal: Principal, row: DestinationRow): Destination {
  if (maySeeSecrets(principal)) return presentDestination(row);
  return presentDestination({ ...row, metadata: withoutSecrets(row) });
}

/** The metadata, without what is secret in it. */
export function withoutSecrets({
  type,
  metadata,
}: Pick<DestinationRow, 'type' | 'metadata'>): DestinationRow['metadata'] {
  return kinds.find((one) => one.type === type)?.withoutSecrets?.(metadata) ?? metadata;
}

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
