import { assertReaches, record } from '../events/index.ts';
import { isTaken } from '../kit/db/faults.ts';
import { newId } from '../kit/ids.ts';
import { problem, refuse, type Problem } from '../kit/problem.ts';
import { abilitiesOf } from '../providers/index.ts';
import { checkContent, createdByIssues } from './config/check.ts';
import { destinationIssues } from './config/destination-issues.ts';
import { chooseConnection, requireUsable } from './connection.ts';
import { enter, forgetTarget, type IntegrationPlace, type InstallationsDeps } from './scope.ts';
import type { CreateInstallationRequest } from './schema.ts';
import {
  heldConnection,
  heldIntegration,
  insertInstallation,
  readInstallation,
  type InstallationRow,
} from './store.ts';
import { listInstallations } from './list-store.ts';
import { toldOf } from './told-store.ts';
import { unaskedMappings } from './config/unasked-mappings.ts';
import { verifyAtProvider } from './verify.ts';
import type { Principal } from '../projects/index.ts';

const defaultCreatedBy = 'api:create-installation';
/** Installs an integration for a group (§4.1). Nothing is saved when anything is refused. */
export async function createInstallation(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
  request: CreateInstallationRequest,
  { skipSampling }: { skipSampling: boolean },
): Promise<{ row: InstallationRow; warnings: { message: string }[] }> {
  const { groupRef, config } = request;
  const scope = await enter(deps, principal, place);
  const { projectId, reach, integration } = scope;
  assertReaches(reach, groupRef);
  const { provider, latestRevision } = integration;
  const manifest = latestRevision.content;
  const issues = [
    ...createdByIssues(config.createdBy, principal),
    ...destinationIssues(config.content, { manifest }, principal),
    ...checkContent(config.content, { provider, manifest, abilities: abilitiesOf(provider) }),
  ];
  if (issues.length > 0) throw refuse(issues, 'config-invalid');
  // Checked early, so that a second attempt calls no provider. The unique index decides.
  const { database } = deps.ground;
  const existing = await listInstallations(database, reach, { integrationId: integration.id, groupRef });
  if (existing.length > 0) throw alreadyInstalled(integration.name, groupRef);
  const connectionId = await chooseConnection(deps, { reach, groupRef, provider }, request.connectionId);
  const content = config.content;
  const asked = { projectId, provider, connectionId, content, manifest, previous: undefined };
  const absences = skipSampling ? [] : await verifyAtProvider(deps.connections, asked);
  const warnings = [...unaskedMappings(content, manifest), ...absences];
  const createdBy = config.createdBy ?? defaultCreatedBy;
  const made = { projectId, id: newId(), integrationId: integration.id, groupRef, connectionId, createdBy };
  const row = await database
    .transaction(async (tx) => {
      // The provider was asked since these were chosen: they may be gone, and the credentials refused.
      if (!(await heldIntegration(tx, projectId, integration.id))) throw deletedMeanwhile(integration.name);
      requireUsable(await heldConnection(tx, projectId, connectionId), { id: connectionId, groupRef });
      await insertInstallation(tx, made, { id: newId(), revisionId: latestRevision.id, createdBy, content });
      const details = { integrationId: integration.id, groupRef, connectionId };
      const told = await toldOf(tx, deps.ground.publicUrl, {
        projectId,
        id: made.id,
        type: 'installation.created',
      });
      await record(tx, { projectId, action: 'installation.created', targetId: made.id, details, told });
      return readInstallation(tx, reach, made.id);
    })
    .catch((error: unknown) => {
      throw isTaken(error) ? alreadyInstalled(integration.name, groupRef) : error;
    });
  if (!row) throw problem('internal', { detail: 'The installation was saved and could not be read.' });
  forgetTarget(deps, scope, row);
  return { row, warnings };
}

function deletedMeanwhile(integration: string): Problem {
  return problem('not-found', { detail: `The integration ${integration} was deleted meanwhile.` });
}

function alreadyInstalled(integration: string, groupRef: string): Problem {
  return problem('already-exists', {
    detail: `The group ${groupRef} has an installation of the integration ${integration} already.`,
    remedy: 'Change it: PATCH …/installations/{installationId}.',
  });
}
