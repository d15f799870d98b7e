import type { AuditEntry } from './schema.ts';
import type { AuditRow } from './store.ts';

/** As the API tells it. */
export function presentAuditEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    time: row.created_at.toISOString(),
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    actor: {
      kind: row.actor_kind,
      ...(row.key_id === null ? {} : { keyId: row.key_id }),
      ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
      ...(row.consumer_ref === null ? {} : { consumerRef: row.consumer_ref }),
      ...(row.person_id === null ? {} : { personId: row.person_id }),
      ...(row.email === null ? {} : { email: row.email }),
    },
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    ...(row.details === null ? {} : { details: row.details }),
  };
}
