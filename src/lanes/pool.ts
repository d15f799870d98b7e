/**
 * What must not starve others, from the widest to the narrowest: a provider and one of its hosts. Each has its part of what is there for
 * the one before.
 */
export type Share = readonly string[];

/** A bound on what is in use at once, over shares that must not starve one another. */
export interface Pool {
  /**
   * Waits for at least `least`, no longer than `withinMs`, and takes at most `most`. Zero when there was no room, the signal was
   * aborted, or the share was turned away.
   */
  acquire(share: Share, least: number, most: number, signal: AbortSignal, withinMs?: number): Promise<number>;
  /** Without waiting: whether there was room for all of it. */
  tryAcquire(share: Share, count: number): boolean;
  release(share: Share, count: number): void;
  /** Whoever waits for this share gets nothing. */
  turnAway(share: Share): void;
}

interface Wish {
  share: Share;
  least: number;
  most: number;
}

interface Waiter extends Wish {
  resolve(count: number): void;
}

/** One may have twice what is free: alone two thirds of all, and beside any number of others something is left. */
const timesFree = 2;

export function createPool(total: number): Pool {
  const used = new Map<string, number>();
  let free = total;
  let queue: Waiter[] = [];

  /** Zero where there is no room. */
  function grant(wish: Wish, waiting: number): number {
    const has = wish.share.map((name) => used.get(name) ?? 0);
    const count = roomOf(wish, has, free, waiting);
    if (count < wish.least) return 0;
    free -= count;
    use(used, wish.share, count);
    return count;
  }

  function serve(): void {
    if (queue.length === 0) return;
    const waiting = queue;
    queue = [];
    waiting.forEach((waiter, at) => {
      const count = grant(waiter, waiting.length - at);
      if (count > 0) waiter.resolve(count);
      else queue.push(waiter);
    });
  }

  return {
    acquire(share, least, most, signal, withinMs) {
      if (signal.aborted) return Promise.resolve(0);
      return new Promise((resolve) => {
        const leave = (): void => {
          queue = queue.filter((other) => other !== waiter);
          waiter.resolve(0);
        };
        const stay = leaving(leave, signal, withinMs);
        const waiter: Waiter = {
          share,
          least,
          most,
          resolve(count) {
            stay();
            resolve(count);
          },
        };
        queue.push(waiter);
        serve();
      });
    },
    tryAcquire: (share, count) => grant({ share, least: count, most: count }, 1) > 0,
    release(share, count) {
      if (count <= 0) return;
      free += count;
      use(used, share, -count);
      serve();
    },
    turnAway(share) {
      const gone = queue.filter((waiter) => waiter.share.at(-1) === share.at(-1));
      queue = queue.filter((waiter) => !gone.includes(waiter));
      for (const waiter of gone) waiter.resolve(0);
    },
  };
}

/** Leaves when the signal is aborted, or after a time, unless what it answers is called before. */
function leaving(leave: () => void, signal: AbortSignal, afterMs: number | undefined): () => void {
  const timer = afterMs === undefined ? undefined : setTimeout(leave, afterMs);
  signal.addEventListener('abort', leave, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  };
}

function use(used: Map<string, number>, share: Share, count: number): void {
  for (const name of share) {
    const left = (used.get(name) ?? 0) + count;
    if (left > 0) used.set(name, left);
    else used.delete(name);
  }
}

/** How much a waiter may take that is one of so many and whose share `has` some already, in the same order. */
function roomOf({ least, most }: Wish, has: readonly number[], free: number, waiting: number): number {
  let allowed = free;
  for (const some of has) {
    const room = Math.floor((timesFree * allowed - some) / (1 + timesFree));
    allowed = some === 0 ? Math.max(room, Math.min(allowed, least)) : room;
  }
  // What is scarce is shared out: nobody takes all of it while others wait.
  const fair = Math.max(least, Math.floor(free / waiting));
  return Math.min(most, allowed, fair);
}
