import { warned, type Finding } from '../manifest/finding.ts';
import type { Manifest } from '../schema.ts';

/** What is wrong with a destination that a manifest names; undefined where it can be delivered to. */
export type DestinationsHook = (projectId: string, name: string) => Promise<string | undefined>;

/** A warning for each destination that is named and cannot be delivered to: what is read for it waits. */
export async function findLostDestinations(
  projectId: string,
  { integrations }: Manifest,
  { ask, only }: { ask: DestinationsHook; only: string | undefined },
): Promise<Finding[]> {
  const named = integrations.flatMap(({ name, read }, index) =>
    only !== undefined && name !== only
      ? []
      : (read?.objects ?? []).flatMap(({ destination }, at) =>
          destination === undefined
            ? []
            : [{ destination, path: ['integrations', index, 'read', 'objects', at, 'destination'] }],
        ),
  );
  const names = [...new Set(named.map(({ destination }) => destination))];
  const faults = new Map(
    await Promise.all(names.map(async (one) => [one, await ask(projectId, one)] as const)),
  );
  return named.flatMap(({ destination, path }) => {
    const fault = faults.get(destination);
    return fault === undefined ? [] : [warned('destination-unknown', path, fault)];
  });
}
