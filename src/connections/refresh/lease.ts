import type { Queryable } from '../../kit/db/database.ts';
import { newId } from '../../kit/ids.ts';
import type { ConnectionKey } from '../store.ts';
import { tokenTimeoutMs } from '../tokens/index.ts';
import { extendRefreshLease, releaseRefreshLease, takeRefreshLease } from './store.ts';

/** Twice the token endpoint's time limit, and extended while a call lasts: a lease never ends under one. */
const leaseMs = 2 * tokenTimeoutMs;
const extendEveryMs = leaseMs / 3;
/** Whoever waits for a lease waits until one that nobody extends is over. */
export const patienceMs = leaseMs + 10_000;

/** A lease on the refresh of a connection, as its holder knows it. */
export interface Lease {
  readonly fence: string;
  /** Asked right before a token leaves: false once somebody else may have the lease, or other credentials are in place. */
  holds(): boolean;
  /** The whole time from now on; false when it is not ours any more. */
  extend(): Promise<boolean>;
  /** Extends it from now on, until its end. Without the database it ends by itself, later than the token endpoint's time limit. */
  keep(): void;
  /** Not extended any more. */
  end(): void;
  /** Ends it for others, too. */
  giveBack(): Promise<void>;
}

/** The lease that lets its holder refresh a generation; undefined when somebody else has it, or the generation is not in place. */
export async function takeLease(
  database: Queryable,
  key: ConnectionKey,
  wanted: { generation: number; restMs?: number },
): Promise<Lease | undefined> {
  const fence = newId();
  let endsAt = performance.now() + leaseMs;
  if (!(await takeRefreshLease(database, key, { ...wanted, fence, forMs: leaseMs }))) return undefined;
  let extending: NodeJS.Timeout | undefined;
  async function extend(): Promise<boolean> {
    const extendedAt = performance.now();
    const isOurs = await extendRefreshLease(database, key, { fence, forMs: leaseMs });
    endsAt = isOurs ? extendedAt + leaseMs : -Infinity;
    return isOurs;
  }
  const end = (): void => clearInterval(extending);
  return {
    fence,
    holds: () => performance.now() < endsAt,
    extend,
    keep() {
      extending = setInterval(() => void extend().catch(() => undefined), extendEveryMs);
    },
    end,
    giveBack() {
      end();
      return releaseRefreshLease(database, key, fence);
    },
  };
}
