import { problem } from './problem.ts';

export interface QueueOptions {
  atOnce: number;
  /** How many may wait; more are refused as `overloaded`. */
  waiting: number;
  /** The same of one owner. Unless told, one owner may take all places. */
  waitingOfOne?: number;
  retryAfterSeconds?: number;
}

export type Queue = <Result>(work: () => Promise<Result>, owner?: string) => Promise<Result>;

/** Lets so many run at once. Those that wait take turns by their owners: nobody waits for all that another one sent before. */
export function createQueue({
  atOnce,
  waiting: most,
  waitingOfOne = most,
  retryAfterSeconds,
}: QueueOptions): Queue {
  /** By owner, the next first; none is empty. */
  const waiting = new Map<string, (() => void)[]>();
  let count = 0;
  let running = 0;
  let last: string | undefined;

  async function wait(owner: string): Promise<void> {
    const own = waiting.get(owner) ?? [];
    if (count >= most || own.length >= waitingOfOne)
      throw problem('overloaded', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    waiting.set(owner, own);
    count += 1;
    await new Promise<void>((resolve) => own.push(resolve));
  }

  function next(): void {
    const owners = [...waiting.keys()];
    const owner = owners.find((one) => one !== last) ?? owners[0];
    const [start, ...rest] = (owner !== undefined && waiting.get(owner)) || [];
    if (owner === undefined || !start) {
      running -= 1;
      return;
    }
    // Set anew, the owner stands behind the others.
    waiting.delete(owner);
    if (rest.length > 0) waiting.set(owner, rest);
    count -= 1;
    last = owner;
    start();
  }

  return async (work, owner = '') => {
    if (running >= atOnce) await wait(owner);
    else {
      running += 1;
      last = owner;
    }
    try {
      return await work();
    } finally {
      next();
    }
  };
}
