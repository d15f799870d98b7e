import { createChaos, type Chaos, type Passes } from '../suite/chaos.ts';
import type { Disruption } from '../suite/settings.ts';
import { terminate, type World } from './world.ts';

/** Deaths, freezes and a database that is away, for as long as there is load. */
export function chaosIn(
  world: World,
  { passes, ...settings }: Disruption & { passes: Passes },
  { outage, over }: { outage: (forMs: number) => Promise<void>; over: () => boolean },
): Chaos {
  const { nodes, wires, crashDatabase } = world;
  return createChaos({
    settings,
    passes,
    nodes,
    wires,
    outage,
    over,
    terminate: () => terminate(world),
    read: async () => true,
    jump: async () => undefined,
    ...(crashDatabase ? { crashDatabase } : {}),
  });
}
