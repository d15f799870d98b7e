import { record } from '../events/index.ts';
import { Problem } from '../kit/problem.ts';
import type { Principal } from '../projects/index.ts';
import { recordInstallationEvent } from './event-store.ts';
import { enter, forgetTarget, ownInstallation, type IntegrationPlace, type Room } from './room.ts';
import { deleteInstallation, isConnectionUsed } from './store.ts';

/** Removes the installation with its configs, then its connection, unless another installation uses it. */
export async function removeInstallation(
  room: Room,
  principal: Principal,
  place: IntegrationPlace,
  id: string,
): Promise<void> {
  const scope = await enter(room, principal, place);
  const row = await ownInstallation(room, scope, id);
  const { database } = room.ground;
  const connectionId = await database.transaction(async (tx) => {
    await recordInstallationEvent(tx, scope.projectId, row.id, 'installation.deleted');
    const details = { integrationId: scope.integration.id, groupRef: row.group_ref };
    await record(tx, {
      projectId: scope.projectId,
      action: 'installation.deleted',
      targetId: row.id,
      details,
    });
    return deleteInstallation(tx, scope.projectId, row.id);
  });
  forgetTarget(room, scope, row);
  if (connectionId === undefined || (await isConnectionUsed(database, scope.projectId, connectionId))) return;
  await room.connections.delete(scope.projectId, connectionId).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'not-found')) throw error;
  });
}
