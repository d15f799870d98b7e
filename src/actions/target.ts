import { reaches } from '../events/index.ts';
import { Problem, problem } from '../kit/problem.ts';
import { deadCredentials } from '../connections/index.ts';
import { notInstalled, type Installations, type Target } from '../installations/index.ts';
import type { Principal, Projects } from '../projects/index.ts';

/** Names the installation of an action: project and integration of the path, group of the body. */
export interface TargetAddress {
  projectIdOrName: string;
  integrationId: string;
  groupRef: string;
}

interface Rooms {
  projects: Projects;
  installations: Installations;
}

/**
 * Decides on the installation that an action is for; another project's or group's is not found.
 * What is remembered of it never refuses: a refusal that is thrown stands once it was decided on what is so now.
 */
export async function decideFor<Decision>(
  rooms: Rooms,
  principal: Principal,
  address: TargetAddress,
  decide: (target: Target) => Decision,
): Promise<Decision> {
  const { projects, installations } = rooms;
  const reach = projects.confine(principal, address.projectIdOrName);
  const { projectId } = reach;
  const isForeignGroup = !reaches(reach, address.groupRef);
  const selector = { integration: address.integrationId, groupRef: address.groupRef };
  const remembered = isForeignGroup
    ? undefined
    : (installations.peekTarget(projectId, selector) ??
      (await installations.findTarget(projectId, selector)));
  const refresh = () => (isForeignGroup ? undefined : installations.refreshTarget(projectId, selector));
  if (remembered) {
    try {
      return decide(remembered);
    } catch (refusal) {
      return decideOnNow(refusal, remembered, refresh, decide);
    }
  }
  const found = await refresh();
  if (found) return decide(found);
  const { name } = await projects.getIntegration(projectId, address.integrationId);
  if (isForeignGroup)
    throw problem('installation-not-found', {
      detail: `The key or token reaches the group ${reach.groupRef} alone, not ${address.groupRef}.`,
      remedy: 'Use one of that group, or one that is confined to none.',
    });
  throw notInstalled(name, address.groupRef);
}

/** A refusal is decided again on a fresh read, unless that tells the same. */
async function decideOnNow<Decision>(
  refusal: unknown,
  remembered: Target,
  refresh: () => Promise<Target | undefined> | undefined,
  decide: (target: Target) => Decision,
): Promise<Decision> {
  if (!(refusal instanceof Problem)) throw refusal;
  const now = await refresh();
  if (!now || isSame(now, remembered)) throw refusal;
  return decide(now);
}

function isSame(one: Target, other: Target): boolean {
  return (
    one.revisionId === other.revisionId &&
    one.configId === other.configId &&
    one.connectionId === other.connectionId &&
    one.connectionStatus === other.connectionStatus
  );
}

/** What is done at the provider needs a connection whose credentials are not known to be dead. */
export function refuseDead(target: Target): void {
  if (target.connectionStatus === undefined) {
    throw problem('no-usable-connection', {
      detail: `The connection of the group ${target.groupRef} was deleted.`,
      remedy:
        'Connect the group again (POST /v1/oauth-connect or …/connections:generate), then have its installation use the new connection: PATCH /v1/projects/{project}/integrations/{integration}/installations/{installation} with `updateMask` ["connectionId"].',
    });
  }
  if (target.connectionStatus === 'bad_credentials') {
    throw deadCredentials(`the group ${target.groupRef}`, target.connectionDetail, target.connectionIsMoved);
  }
}
