import { createPool, type Share } from './pool.ts';

/** A bound on the bytes of large items in memory; small ones are bounded by their number. */
export interface Bytes {
  /** Waits until `wanted` fit; undefined when the signal was aborted. */
  reserve(share: Share, wanted: number, signal: AbortSignal): Promise<Reserved | undefined>;
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
  return {
    async reserve(share, wanted, signal) {
      const isLarge = wanted > total * largeFrom;
      const granted = isLarge
        ? await large.acquire(share, 1, 1, signal)
        : await pool.acquire(share, wanted, wanted, signal);
      if (granted === 0) return undefined;
      return {
        release: () => (isLarge ? large.release(share, 1) : pool.release(share, wanted)),
      };
    },
  };
}
