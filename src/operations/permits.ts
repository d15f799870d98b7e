/** A bound on what runs at once, shared in the order of asking, so that one busy lane cannot keep the others out. */
export interface Permits {
  /** Waits for at least one and takes at most `wanted`. Zero when the signal was aborted. */
  acquire(wanted: number, signal: AbortSignal): Promise<number>;
  release(count: number): void;
}

export function createPermits(total: number): Permits {
  let free = total;
  const queue: { wanted: number; resolve(count: number): void }[] = [];

  function serve(): void {
    while (free > 0) {
      const next = queue.shift();
      if (!next) return;
      // What is scarce is shared out: nobody takes all of it while others wait.
      const share = Math.max(1, Math.floor(free / (queue.length + 1)));
      const count = Math.min(next.wanted, share);
      free -= count;
      next.resolve(count);
    }
  }

  return {
    acquire(wanted, signal) {
      if (signal.aborted) return Promise.resolve(0);
      return new Promise((resolve) => {
        const waiter = {
          wanted,
          resolve(count: number): void {
            signal.removeEventListener('abort', leave);
            resolve(count);
          },
        };
        const leave = (): void => {
          const at = queue.indexOf(waiter);
          if (at >= 0) queue.splice(at, 1);
          resolve(0);
        };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(waiter);
        serve();
      });
    },
    release(count) {
      free += count;
      serve();
    },
  };
}
