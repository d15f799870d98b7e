import type { Queryable } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { currentActor } from './actor.ts';
import type { AuditAction } from './schema.ts';
import { insertAuditEntry } from './store.ts';

/** Something that an administrator wants to find later. `details` never holds a secret. */
export interface AuditEvent {
  projectId: string;
  action: AuditAction;
  targetId: string;
  details?: Record<string, unknown>;
}

/** Writes to the audit log who does this now: in the transaction of a change, and before a credential is shown. */
export async function record(
  tx: Queryable,
  { projectId, action, targetId, details }: AuditEvent,
): Promise<void> {
  await insertAuditEntry(tx, { projectId, id: newId(), action, targetId, actor: currentActor(), details });
}
