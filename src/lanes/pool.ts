/** A bound on what is in use at once, over shares that must not starve one another. */
export interface Pool {
  /** Waits for at least `least` and takes at most `most`. Zero when the signal was aborted or the share was turned away. */
  acquire(share: string, least: number, most: number, signal: AbortSignal): Promise<number>;
  release(share: string, count: number): void;
  /** Whoever waits for this share gets nothing. */
  turnAway(share: string): void;
}

interface Waiter {
  share: string;
  least: number;
  most: number;
  resolve(count: number): void;
}

/** A share may have twice what is free: one alone two thirds of all, and beside any number of others something is left. */
const timesFree = 2;

export function createPool(total: number): Pool {
  const used = new Map<string, number>();
  let free = total;
  let queue: Waiter[] = [];

  function serve(): void {
    if (queue.length === 0) return;
    const waiting = queue;
    queue = [];
    waiting.forEach((waiter, at) => {
      const has = used.get(waiter.share) ?? 0;
      const count = roomOf(waiter, has, free, waiting.length - at);
      if (count < waiter.least) {
        queue.push(waiter);
        return;
      }
      free -= count;
      used.set(waiter.share, has + count);
      waiter.resolve(count);
    });
  }

  return {
    acquire(share, least, most, signal) {
      if (signal.aborted) return Promise.resolve(0);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          share,
          least,
          most,
          resolve(count) {
            signal.removeEventListener('abort', leave);
            resolve(count);
          },
        };
        const leave = (): void => {
          queue = queue.filter((other) => other !== waiter);
          resolve(0);
        };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(waiter);
        serve();
      });
    },
    release(share, count) {
      if (count <= 0) return;
      free += count;
      const left = (used.get(share) ?? 0) - count;
      if (left > 0) used.set(share, left);
      else used.delete(share);
      serve();
    },
    turnAway(share) {
      const gone = queue.filter((waiter) => waiter.share === share);
      queue = queue.filter((waiter) => waiter.share !== share);
      for (const waiter of gone) waiter.resolve(0);
    },
  };
}

/** How much a waiter may take that is one of so many and whose share has some already. */
function roomOf({ least, most }: Waiter, has: number, free: number, waiting: number): number {
  const room = Math.floor((timesFree * free - has) / (1 + timesFree));
  const allowed = has === 0 ? Math.max(room, Math.min(free, least)) : room;
  // What is scarce is shared out: nobody takes all of it while others wait.
  const fair = Math.max(least, Math.floor(free / waiting));
  return Math.min(most, allowed, fair);
}
