import type { Queryable } from '../kit/db/database.ts';
import type { Change } from '../kit/changes/index.ts';
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
  const eventId = newId();
  if (told) await insertEvent(tx, projectId, eventId, told);
  if (happening.action !== undefined) {
    const { action, targetId, details } = happening;
    await insertAuditEntry(tx, { projectId, id: newId(), action, targetId, actor: currentActor(), details });
  }
  for (const change of changesOf(happening, eventId)) tx.tell(projectId, change);
}

/** For the details of an entry: of each member that a change made another, what it was and what it is. No secret goes in here. */
export function beforeAndAfter(
  before: object,
  after: object,
): Record<string, { before: unknown; after: unknown }> {
  const [was, is] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      .map((name) => [name, { before: was[name] ?? null, after: is[name] ?? null }]),
  );
}

/** What those who look at the project see change. */
function changesOf(happening: Happening, eventId: string): Change[] {
  const { told } = happening;
  const groupRef = told?.groupRef;
  const changes: Change[] = told ? [{ type: 'event', id: eventId, status: told.type, groupRef }] : [];
  if (happening.action !== undefined) {
    const [type = '', status] = happening.action.split('.');
    return [...changes, { type, id: happening.targetId, status, groupRef }];
  }
  if (!told) return changes;
  const [type = '', ...done] = told.type.split('.');
  const id = type === 'connection' ? told.connectionId : told.installationId;
  return id === undefined ? changes : [...changes, { type, id, status: done.join('.'), groupRef }];
}
