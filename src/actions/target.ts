import { problem, type Problem } from '../kit/problem.ts';
import type { Installations, Target } from '../installations/index.ts';
import type { Principal, Projects } from '../projects/index.ts';

/** For whom an action is done: the path's project and integration with the body's group. */
export interface TargetAddress {
  projectIdOrName: string;
  integrationId: string;
  groupRef: string;
}

/** Finds the installation that an action is for; another project's or group's is not found (contract, Authentication). */
export async function resolveTarget(
  { projects, installations }: { projects: Projects; installations: Installations },
  principal: Principal,
  address: TargetAddress,
): Promise<Target> {
  const { id: projectId } = projects.resolveProject(principal, address.projectIdOrName);
  const isForeignGroup = principal.groupRef !== undefined && principal.groupRef !== address.groupRef;
  const target = isForeignGroup
    ? undefined
    : await installations.findTarget(projectId, {
        integration: address.integrationId,
        groupRef: address.groupRef,
      });
  if (target) return target;
  const { name } = await projects.getIntegration(projectId, address.integrationId);
  throw notInstalled(name, address.groupRef);
}

export function notInstalled(integrationName: string, groupRef: string): Problem {
  return problem('installation-not-found', {
    detail: `The group ${groupRef} has no installation of the integration ${integrationName}.`,
  });
}
