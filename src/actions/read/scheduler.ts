import { newId } from '../../kit/ids.ts';
import { createPeriodic, together, type Periodic } from '../../kit/periodic.ts';
import { followChanges } from './feeds.ts';
import type { ReadDeps } from './prepare.ts';
import { nextRun } from './schedule.ts';
import { moveBeginnings, timeOf } from './store/feeds.ts';
import { due, fire, type DueFeed, type Firing } from './store/runs.ts';
import { begunAhead, type ClockSeen } from './window.ts';

const lookEveryMs = 1_000;
const atOnce = 500;

/** Keeps feeds in step with configs and manifests, and begins the runs that are due; on as many nodes as there are. None of it waits for the rest. */
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
    createPeriodic({
      log,
      what: 'looking whether the clock of the database was set back',
      everyMs: lookEveryMs,
      round: clockRounds(deps),
    }),
  ]);
}

/** Looks at the clock; feeds that may have begun while it was ahead begin earlier. Between two looks less counts as passed than did, never more. */
function clockRounds({ ground: { database } }: Pick<ReadDeps, 'ground'>): () => Promise<void> {
  let seen: ClockSeen | undefined;
  return async () => {
    const at = performance.now();
    const now = await timeOf(database);
    const begun = begunAhead(seen, { now, at });
    const answeredAt = performance.now();
    if (begun) await moveBeginnings(database, begun);
    seen = { now, at: answeredAt };
  };
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
