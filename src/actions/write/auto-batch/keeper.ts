import type { Ground } from '../../../kit/ground.ts';
import { tidy } from './store.ts';

const everyMs = 60_000;

export interface BatchKeeper {
  start(): void;
  stop(): Promise<void>;
}

/** Looks after the tables of auto-batches from time to time. */
export function createBatchKeeper({ database, log }: Pick<Ground, 'database' | 'log'>): BatchKeeper {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isTold = false;
  async function attempt(): Promise<void> {
    try {
      await tidy(database);
      isTold = false;
    } catch (error) {
      if (!isTold) log.warn({ err: error }, 'looking after auto-batches failed; it is tried again');
      isTold = true;
    }
  }
  return {
    start() {
      timer = setInterval(() => {
        running = running.then(attempt);
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
