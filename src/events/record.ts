import type { Queryable } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { currentActor } from './actor.ts';
import type { AuditAction } from './audit/schema.ts';
import { insertAuditEntry } from './audit/store.ts';
import { insertEvent, type Told } from './store.ts';

export { eventsFrom, type Told } from './store.ts';

/** An entry of the audit log. `details` never holds a secret. */
interface Audited {
  action: AuditAction;
  targetId: string;
  details?: Record<string, unknown>;
}

/** What happened: done by somebody, to be told, or both. What is gone already leaves nothing to be told. */
type Happening = { projectId: string } & (
  | (Audited & { told?: Told | undefined })
  | { action?: undefined; told: Told | undefined }
);

/**
 * Records what happens in the transaction of the change, and a disclosure before the credential is shown. The actor is
 * written to the audit log; `told` becomes an event.
 */
export async function record(tx: Queryable, happening: Happening): Promise<void> {
  const { projectId, told } = happening;
  if (told) await insertEvent(tx, projectId, newId(), told);
  if (happening.action === undefined) return;
  const { action, targetId, details } = happening;
  await insertAuditEntry(tx, { projectId, id: newId(), action, targetId, actor: currentActor(), details });
}
