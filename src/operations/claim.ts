import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { rescue } from './store/items.ts';
import { claim, giveBack } from './store/lanes.ts';
import type { HeldLane, TakenItem } from './work.ts';

/** A claimed lane, and what its former holder had sent without recording the outcome. */
export interface Claimed {
  lane: HeldLane;
  /** Monotonic; not later than the database's end of the lease. */
  leaseEndsAt: number;
  rescued: TakenItem[];
}

export interface ClaimOptions {
  /** Rotates over the projects: lanes of those after it come first. */
  afterProject: string;
  limit: number;
  leaseMs: number;
}

const perProject = 5;
/** More lost items of one lane than this are rescued by the next claim. */
const rescueAtOnce = 500;

/** Claims due lanes and rescues what was lost in them. */
export async function claimDue(database: Database, options: ClaimOptions): Promise<Claimed[]> {
  const { afterProject, limit, leaseMs } = options;
  const leaseEndsAt = performance.now() + leaseMs;
  const lease = crypto.randomUUID();
  const lanes = await claim(database, { afterProject, perProject, limit, lease, leaseMs });
  if (lanes.length === 0) return [];
  crashPoint('after-claim');
  try {
    const rescued = await rescue(
      database,
      lanes.map((lane) => ({ ...lane, room: rescueAtOnce })),
    );
    return lanes.map((lane) => ({
      lane,
      leaseEndsAt,
      rescued: rescued.filter((item) => item.laneId === lane.id),
    }));
  } catch (error) {
    // Whether rows became ours is not known: as sent rows they make the lane due at once for a new claim.
    await giveBack(
      database,
      lanes.map((lane) => Object.assign({ blockedMs: 0 }, lane)),
    ).catch(() => undefined);
    throw error;
  }
}
