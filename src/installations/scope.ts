import type { Reach } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import { isId } from '../kit/ids.ts';
import { problem, type Problem } from '../kit/problem.ts';
import { isReference, referenceRule } from '../kit/reference-schema.ts';
import type { Connections } from '../connections/index.ts';
import type { Integration, Principal, Projects } from '../projects/index.ts';
import type { Catalog } from '../providers/index.ts';
import { readInstallation, type InstallationRow } from './store.ts';
import type { Targets } from './targets.ts';

/** What the verbs of this room work with. */
export interface InstallationsDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  catalog: Catalog;
  targets: Targets;
}

/** An integration as a path names it. */
export interface IntegrationPlace {
  projectIdOrName: string;
  integrationId: string;
}

/** An integration that the caller may see. */
export interface Scope {
  principal: Principal;
  projectId: string;
  reach: Reach;
  integration: Integration;
}

/** Throws not-found for a project that is not the caller's, and for an unknown integration. */
export async function enter(
  { projects }: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
): Promise<Scope> {
  const reach = projects.confine(principal, place.projectIdOrName);
  const { projectId } = reach;
  const integration = await projects.getIntegration(projectId, place.integrationId);
  return { principal, projectId, reach, integration };
}

/** The installation of the integration, if the caller may see it. Throws installation-not-found. */
export async function ownInstallation(
  { ground }: InstallationsDeps,
  scope: Scope,
  id: string,
): Promise<InstallationRow> {
  const row = isId(id) ? await readInstallation(ground.database, scope.reach, id) : undefined;
  if (row?.integration_id === scope.integration.id) return row;
  throw installationNotFound(`The integration ${scope.integration.name} has no installation ${id}.`, checkId);
}

/** The same, by its id alone. */
export async function installationOfProject(
  { ground, projects }: InstallationsDeps,
  principal: Principal,
  projectIdOrName: string,
  id: string,
): Promise<InstallationRow> {
  const reach = projects.confine(principal, projectIdOrName);
  const row = isId(id) ? await readInstallation(ground.database, reach, id) : undefined;
  if (row) return row;
  throw noInstallation(id);
}

/** An id that no installation has which the caller may see. */
export function noInstallation(id: string): Problem {
  return installationNotFound(`The project has no installation ${id}.`, checkId);
}

function installationNotFound(detail: string, remedy?: string): Problem {
  return problem('installation-not-found', { detail, ...(remedy === undefined ? {} : { remedy }) });
}

/** A group without an installation; of a text that no group is called by, that is told. */
export function notInstalled(integrationName: string, groupRef: string): Problem {
  const detail = `The group ${groupRef} has no installation of the integration ${integrationName}.`;
  if (isReference(groupRef)) return installationNotFound(detail);
  return installationNotFound(detail, `Correct the reference of the group: it ${referenceRule}.`);
}

const checkId =
  'Check the id: GET /v1/projects/{project}/integrations/{integration}/installations lists them.';

/** Drops the installation from the cache of targets. */
export function forgetTarget(
  { targets }: InstallationsDeps,
  { integration }: Scope,
  row: Pick<InstallationRow, 'project_id' | 'id' | 'group_ref'>,
): void {
  targets.forget({
    projectId: row.project_id,
    installationId: row.id,
    integrationId: integration.id,
    integrationName: integration.name,
    groupRef: row.group_ref,
  });
}
