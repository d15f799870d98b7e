import { currentActor } from '../../events/index.ts';
import { destinationFault } from '../../deliveries/index.ts';
import type { ProposedTarget, Target } from '../../installations/index.ts';
import { effectiveReadObjectNamed, type EffectiveReadObject } from '../../installations/index.ts';
import { newId } from '../../kit/ids.ts';
import { problem, refuse } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import { connectorOf } from '../../providers/index.ts';
import { decideFor, refuseDead } from '../target.ts';
import type { ReadDeps } from './prepare.ts';
import type { ReadRequest } from './schema.ts';
import { beginRun } from './store/runs.ts';

export interface ReadPlace {
  projectIdOrName: string;
  integrationId: string;
  objectName: string;
}

/** Begins a read with a range of its own; the watermark of the schedule stays where it is. */
export async function requestRead(
  deps: ReadDeps,
  principal: Principal,
  { objectName, ...place }: ReadPlace,
  { groupRef, sinceTimestamp, untilTimestamp }: ReadRequest,
): Promise<{ operationId: string; target: Target }> {
  const range = rangeOf(sinceTimestamp, untilTimestamp);
  const decided = await decideFor(deps, principal, { ...place, groupRef }, (target) => {
    const asked = readableObject(target, objectName);
    refuseDead(target);
    return { target, asked };
  });
  const { target, asked } = decided;
  await refuseLost(deps, target, asked);
  const { projectId, installationId } = target;
  const id = newId();
  const run = {
    projectId,
    installationId,
    objectName: asked.objectName,
    id,
    type: 'triggered',
    ...range,
    requestId: currentActor().requestId,
  } as const;
  const lane = await beginRun(deps.ground.database, run);
  if (lane === undefined)
    throw problem('installation-not-found', { detail: 'The installation was deleted.' });
  deps.operations.announce(lane);
  deps.ground.database.tell(projectId, { type: 'operation', id, status: 'in_progress', groupRef });
  return { operationId: id, target };
}

function rangeOf(since?: string, until?: string): { since?: number; until?: number } {
  const range = {
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  };
  if ((range.since ?? -Infinity) <= (range.until ?? Date.now())) return range;
  const detail = until === undefined ? 'lies in the future' : 'is later than untilTimestamp';
  throw refuse([{ in: 'body', name: 'sinceTimestamp', detail, value: since }]);
}

/** The object, by the provider's or the builder's name. Throws where it may not be read at all. */
export function readableObject(target: ProposedTarget, objectName: string): EffectiveReadObject {
  const { manifest, integrationName, provider } = target;
  if (!manifest.read) {
    const detail = `The integration ${integrationName} declares no read action.`;
    throw problem('read-not-configured', { detail });
  }
  if (!connectorOf(provider)?.read) {
    throw problem('read-not-configured', { detail: `Records of the provider ${provider} cannot be read.` });
  }
  const asked = effectiveReadObjectNamed(target, objectName);
  if (!asked?.declared) throw notReadable(target, objectName);
  if (!asked.disabled) return asked;
  throw problem('read-disabled', { detail: `The config of the installation disables ${asked.objectName}.` });
}

function notReadable({ manifest, integrationName, groupRef }: ProposedTarget, objectName: string): Error {
  const lower = objectName.toLowerCase();
  const isDeclared = manifest.read?.objects?.some(
    (one) => one.objectName.toLowerCase() === lower || one.mapToName?.toLowerCase() === lower,
  );
  if (isDeclared) {
    const detail = `The installation of the group ${groupRef} does not have ${objectName} under read.objects.`;
    return problem('object-not-in-config', { detail });
  }
  const detail = `The integration ${integrationName} does not declare ${objectName} under read.objects.`;
  return problem('object-not-in-manifest', { detail });
}

async function refuseLost(
  { deliveries }: ReadDeps,
  { projectId }: Target,
  { destination, objectName }: EffectiveReadObject,
): Promise<void> {
  if (destination === undefined)
    throw problem('no-destination', { detail: `${objectName} names no destination.` });
  const fault = destinationFault(await deliveries.findDestination(projectId, destination), destination);
  if (fault !== undefined) throw problem('no-destination', { detail: `Nothing can be delivered: ${fault}.` });
}
