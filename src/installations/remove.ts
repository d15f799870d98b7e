import { record, wholeProject } from '../events/index.ts';
import { Problem } from '../kit/problem.ts';
import type { Principal } from '../projects/index.ts';
import {
  enter,
  forgetTarget,
  ownInstallation,
  type IntegrationPlace,
  type InstallationsDeps,
} from './scope.ts';
import { deleteInstallation, isConnectionUsed } from './store.ts';
import { toldOf } from './told-store.ts';

/** Removes the installation with its configs, then its connection, unless another installation uses it. */
export async function removeInstallation(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
  id: string,
): Promise<void> {
  const scope = await enter(deps, principal, place);
  const row = await ownInstallation(deps, scope, id);
  const { database, publicUrl } = deps.ground;
  const { projectId } = scope;
  const connectionId = await database.transaction(async (tx) => {
    const details = { integrationId: scope.integration.id, groupRef: row.group_ref };
    const told = await toldOf(tx, publicUrl, { projectId, id: row.id, type: 'installation.deleted' });
    await record(tx, { projectId, action: 'installation.deleted', targetId: row.id, details, told });
    return deleteInstallation(tx, projectId, row.id);
  });
  forgetTarget(deps, scope, row);
  if (connectionId === undefined || (await isConnectionUsed(database, projectId, connectionId))) return;
  await deps.connections.delete(wholeProject(projectId), connectionId).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'not-found')) throw error;
  });
}
