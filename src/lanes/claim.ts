import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { claim, release, type Gathering, type HeldLane } from './store/lanes.ts';

/** A claimed lane. What its former holder had sent without recording the outcome is still to be rescued. */
export interface Claimed {
  lane: HeldLane;
  /** Monotonic; not later than the database's end of the lease. */
  leaseEndsAt: number;
}

export interface ClaimOptions {
  /** Rotates over the projects: lanes of those after it come first. */
  afterProject: string;
  limit: number;
  leaseMs: number;
  /** Leases of claims whose answer was lost: lanes under them are held by nobody. Kept between the claims of a worker. */
  lost: Set<string>;
  gathering?: Gathering | undefined;
}

const perProject = 5;

/** Claims due lanes. */
export async function claimDue(database: Database, options: ClaimOptions): Promise<Claimed[]> {
  const { afterProject, limit, leaseMs, lost, gathering } = options;
  if (lost.size > 0) {
    await release(database, [...lost]);
    lost.clear();
  }
  const leaseEndsAt = performance.now() + leaseMs;
  const lease = crypto.randomUUID();
  lost.add(lease);
  const lanes = await claim(database, { afterProject, perProject, limit, lease, leaseMs }, gathering);
  if (lanes.length > 0) crashPoint('after-claim');
  lost.delete(lease);
  return lanes.map((lane) => ({ lane, leaseEndsAt }));
}
