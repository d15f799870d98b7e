import type { Queryable } from '../../kit/db/database.ts';
import { channel, writeMessage } from './channel.ts';
import { opened, saveOpening } from './store.ts';

/** What was closed for the credentials that the transaction replaces opens with its commit, on every node. */
export function openWindow(
  tx: Queryable,
  [projectId, connectionId]: readonly [projectId: string, connectionId: string],
): Promise<void> {
  const opening = { projectId, connectionId, until: opened, lockedOut: false };
  return saveOpening(tx, opening, { channel, message: writeMessage([opening]) });
}
