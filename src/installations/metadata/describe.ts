import { assertReaches } from '../../events/index.ts';
import { problem } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import type { ManifestIntegration } from '../../projects/schema.ts';
import { connectorOf, type ObjectDescription } from '../../providers/index.ts';
import { objectNamed } from '../config/objects.ts';
import { chooseConnection } from '../connection.ts';
import { problemOfFailure } from '../provider-problem.ts';
import { enter, type IntegrationPlace, type InstallationsDeps } from '../scope.ts';
import type { ObjectMetadata } from './schema.ts';

/** Whose account is asked, and whether read-only fields are left out. */
export interface ObjectQuestion {
  objectName: string;
  groupRef: string;
  excludeReadOnly: boolean;
}

/** Metadata through the installation's connection, or the group's default one before it is installed. */
export async function describeForIntegration(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace,
  question: ObjectQuestion,
): Promise<ObjectMetadata> {
  const { groupRef } = question;
  const { projectId, reach, integration } = await enter(deps, principal, place);
  assertReaches(reach, groupRef);
  const { provider, latestRevision } = integration;
  const { objectName, mappedObjectName } = declaredName(latestRevision.content, question.objectName);
  const target = await deps.targets.find(projectId, { integration: integration.id, groupRef });
  const connectionId =
    target?.connectionStatus === undefined
      ? await chooseConnection(deps, { reach, groupRef, provider }, undefined)
      : target.connectionId;
  const object = await describeObject(deps, { projectId, provider, connectionId }, objectName);
  return { ...present(object, question), ...(mappedObjectName === undefined ? {} : { mappedObjectName }) };
}

/** Metadata through the group's default connection to the provider. */
export async function describeForProvider(
  deps: InstallationsDeps,
  principal: Principal,
  place: { projectIdOrName: string; provider: string },
  question: ObjectQuestion,
): Promise<ObjectMetadata> {
  const { groupRef, objectName } = question;
  const reach = deps.projects.confine(principal, place.projectIdOrName);
  const { projectId } = reach;
  assertReaches(reach, groupRef);
  const { name: provider } = deps.catalog.get(place.provider);
  const connectionId = await chooseConnection(deps, { reach, groupRef, provider }, undefined);
  return present(await describeObject(deps, { projectId, provider, connectionId }, objectName), question);
}

/** The provider's name behind a name that may be the integration's own. */
export function declaredName(
  manifest: ManifestIntegration,
  asked: string,
): { objectName: string; mappedObjectName: string | undefined } {
  const objects = manifest.read?.objects ?? [];
  const declared = objectNamed(objects, asked) ?? objects.find((object) => object.mapToName === asked);
  return { objectName: declared?.objectName ?? asked, mappedObjectName: declared?.mapToName };
}

interface Through {
  projectId: string;
  provider: string;
  connectionId: string;
}

/** The object as the provider describes it now. Throws the problem that the provider's failure amounts to. */
export async function describeObject(
  { connections }: InstallationsDeps,
  { projectId, provider, connectionId }: Through,
  objectName: string,
): Promise<ObjectDescription> {
  const ability = connectorOf(provider)?.describe;
  if (!ability)
    throw problem('ability-unsupported', { detail: `Objects of ${provider} cannot be described.` });
  const client = await connections.client(projectId, connectionId);
  const answer = await ability.describe(client, objectName);
  if ('failure' in answer)
    throw problemOfFailure(answer.failure, {
      what: `${provider} did not describe ${objectName}`,
      remedies,
    });
  return answer.object;
}

// Replaces the remedy of the catalogue, which does not fit here.
const remedies = {
  'not-found': "Check the object's name, and that the connection may see it.",
  'provider-refused': 'Let the customer grant access to the object.',
} as const;

function present(
  { name, displayName, fields }: ObjectDescription,
  { excludeReadOnly }: ObjectQuestion,
): ObjectMetadata {
  if (!excludeReadOnly) return { name, displayName, fields };
  const writable = Object.entries(fields).filter(([, field]) => field.readOnly !== true);
  return { name, displayName, fields: Object.fromEntries(writable) };
}
