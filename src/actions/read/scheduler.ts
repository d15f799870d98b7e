import { newId } from '../../kit/ids.ts';
import { createPeriodic, together, type Periodic } from '../../kit/periodic.ts';
import { followChanges } from './feeds.ts';
import type { ReadDeps } from './prepare.ts';
import { nextRun } from './schedule.ts';
import { due, fire, type DueFeed, type Firing } from './store/runs.ts';

const lookEveryMs = 1_000;
const atOnce = 500;

/** Keeps feeds in step with configs and manifests, and begins the runs that are due; on as many nodes as there are. Neither waits for the other. */
export function createScheduler(deps: Pick<ReadDeps, 'ground' | 'operations'>): Periodic {
  const { log } = deps.ground;
  const failing = new Set<string>();
  return together([
    createPeriodic({
      log,
      what: 'following what is configured to be read',
      everyMs: lookEveryMs,
      round: () => followChanges(deps, failing),
    }),
    createPeriodic({
      log,
      what: 'looking for reads that are due',
      everyMs: lookEveryMs,
      round: () => fireDue(deps),
    }),
  ]);
}

/** Begins a run of each feed whose time has come. Answers whether there may be more. */
export async function fireDue({
  ground,
  operations,
}: Pick<ReadDeps, 'ground' | 'operations'>): Promise<boolean> {
  const feeds = await due(ground.database, atOnce);
  if (feeds.length === 0) return false;
  const firings = feeds.map(firingOf);
  const fired = await fire(ground.database, firings);
  for (const { n, laneId, groupRef } of fired) {
    const firing = firings[n - 1];
    if (!firing || laneId === null) continue;
    const change = { type: 'operation', id: firing.id, status: 'in_progress' };
    ground.database.tell(firing.feed.projectId, { ...change, groupRef: groupRef ?? undefined });
  }
  for (const lane of new Set(fired.flatMap(({ laneId }) => laneId ?? []))) operations.announce(lane);
  return feeds.length === atOnce;
}

/** The next one is reckoned from now: however many ticks were missed, one run makes up for them. */
function firingOf(feed: DueFeed): Firing {
  const next = nextRun(feed, feed.now);
  return { feed, id: newId(), tickAt: next?.tickAt, nextAt: next?.dueAt };
}
