import { assertReaches, type Reach } from '../events/index.ts';
import { refuse } from '../kit/problem.ts';
import type { Principal } from '../projects/index.ts';
import { abilitiesOf } from '../providers/index.ts';
import { checkContent } from './config/check.ts';
import { destinationIssues } from './config/destination-issues.ts';
import { chooseConnection } from './connection.ts';
import { manifestFor } from './manifest-for.ts';
import type { Proposal } from './schema.ts';
import { enter, type IntegrationPlace, type InstallationsDeps } from './scope.ts';
import { listInstallations } from './list-store.ts';
import type { Target } from './targets.ts';

/** An installation as it would be with a config that nobody saved. */
export type ProposedTarget = Pick<
  Target,
  'projectId' | 'integrationName' | 'provider' | 'manifest' | 'groupRef' | 'content' | 'connectionId'
>;

export interface Proposed extends ProposedTarget {
  /** Whether the caller may see records through the connection: it is their own or the installation's, or they are no person. */
  mayShow: boolean;
}

/** Throws what saving the config would be refused with before the provider is asked; nothing is saved. */
export async function proposedTarget(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
  { groupRef, connectionId, config: { content } }: Proposal,
): Promise<Proposed> {
  const { projectId, reach, integration } = await enter(deps, principal, place);
  assertReaches(reach, groupRef);
  const { id: integrationId, name: integrationName, provider, latestRevision } = integration;
  const [installed] = await listInstallations(deps.ground.database, reach, { integrationId, groupRef });
  const manifest = installed ? manifestFor(latestRevision, installed) : latestRevision.content;
  const previous = installed?.content;
  const issues = [
    ...destinationIssues(content, { manifest, previous }, principal),
    ...checkContent(content, { provider, manifest, abilities: abilitiesOf(provider), previous }),
  ];
  if (issues.length > 0) throw refuse(issues, 'config-invalid');
  const need = { reach, groupRef, provider };
  const chosen = await chooseConnection(deps, need, connectionId ?? installed?.connection_id);
  const mayShow = chosen === installed?.connection_id || (await isOwn(deps, reach, chosen));
  return { projectId, integrationName, provider, manifest, groupRef, content, connectionId: chosen, mayShow };
}

async function isOwn({ connections }: InstallationsDeps, reach: Reach, id: string): Promise<boolean> {
  if (reach.consumerRef === undefined) return true;
  return (await connections.get(reach, id)).consumerRef === reach.consumerRef;
}
