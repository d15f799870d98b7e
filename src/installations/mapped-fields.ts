import { fieldLevels } from '../providers/index.ts';
import { effectiveReadObjects } from './effective-read.ts';
import type { Target, Targets } from './targets.ts';

/** Names an object as it is delivered. */
export interface DeliveredObject {
  projectId: string;
  installationId: string;
  object: string;
}

/** The members of `mappedFields` that records of the object may have now; none where it is not read. */
export function mappedFieldsOf(
  targets: Pick<Targets, 'find'>,
): (of: DeliveredObject) => Promise<readonly string[]> {
  // A target is another one once its config or its manifest is.
  const known = new WeakMap<Target, ReadonlyMap<string, readonly string[]>>();
  return async ({ projectId, installationId, object }) => {
    const target = await targets.find(projectId, { installationId });
    if (!target) return [];
    const found = known.get(target) ?? rootsOf(target);
    known.set(target, found);
    return found.get(object) ?? [];
  };
}

function rootsOf(target: Target): ReadonlyMap<string, readonly string[]> {
  return new Map(
    effectiveReadObjects(target).map(({ deliveredAs, mappings }) => [
      deliveredAs,
      [...new Set(Object.keys(mappings).map((name) => fieldLevels(name)[0] ?? name))],
    ]),
  );
}
