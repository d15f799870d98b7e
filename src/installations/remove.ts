import { record } from '../events/index.ts';
import type { Principal } from '../projects/index.ts';
import {
  enter,
  forgetTarget,
  ownInstallation,
  type IntegrationPlace,
  type InstallationsDeps,
} from './scope.ts';
import { deleteInstallation, holdInstallation, isConnectionUsed } from './store.ts';
import { toldOf } from './told-store.ts';

/**
 * Removes the installation with its configs and its connection, unless another installation uses that. A person's token takes
 * along a connection of that person only.
 */
export async function removeInstallation(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
  id: string,
): Promise<void> {
  const scope = await enter(deps, principal, place);
  const row = await ownInstallation(deps, scope, id);
  const { database, publicUrl } = deps.ground;
  const { projectId, reach } = scope;
  const finish = await database.transaction(async (tx) => {
    if (!(await holdInstallation(tx, projectId, row.id))) return undefined;
    const details = { integrationId: scope.integration.id, groupRef: row.group_ref };
    const told = await toldOf(tx, publicUrl, { projectId, id: row.id, type: 'installation.deleted' });
    await record(tx, { projectId, action: 'installation.deleted', targetId: row.id, details, told });
    const connectionId = await deleteInstallation(tx, projectId, row.id);
    if (connectionId === undefined) return undefined;
    // Asked while it is held: who installs meanwhile holds it, too.
    return deps.connections.deleteIf(
      tx,
      [projectId, connectionId],
      async ({ consumerRef }) =>
        (reach.consumerRef ?? consumerRef) === consumerRef &&
        !(await isConnectionUsed(tx, projectId, connectionId)),
    );
  });
  forgetTarget(deps, scope, row);
  await finish?.();
}
