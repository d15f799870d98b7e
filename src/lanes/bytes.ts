import { createPool, type Pool, type Share } from './pool.ts';

/** A bound on the bytes of large items in memory; small ones are bounded by their number. */
export interface Bytes {
  /** Waits until `wanted` fit; undefined when the signal was aborted. */
  reserve(share: Share, wanted: number, signal: AbortSignal): Promise<Reserved | undefined>;
  /** Without waiting; undefined when there is no room. */
  tryReserve(share: Share, wanted: number): Reserved | undefined;
}

export interface Reserved {
  release(): void;
}

/** What is larger than this part of all has one of a few places of its own, so that it fits at all and keeps nobody out. */
const largeFrom = 1 / 8;
const largeAtOnce = 4;

export function createBytes(total: number): Bytes {
  const pool = createPool(total);
  const large = createPool(largeAtOnce);
  const placeOf = (wanted: number): [Pool, number] =>
    wanted > total * largeFrom ? [large, 1] : [pool, Math.max(1, wanted)];
  return {
    async reserve(share, wanted, signal) {
      const [from, count] = placeOf(wanted);
      const granted = await from.acquire(share, count, count, signal);
      return granted === 0 ? undefined : { release: () => from.release(share, count) };
    },
    tryReserve(share, wanted) {
      const [from, count] = placeOf(wanted);
      return from.tryAcquire(share, count) ? { release: () => from.release(share, count) } : undefined;
    },
  };
}
