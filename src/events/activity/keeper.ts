import type { Database } from '../../kit/db/database.ts';
import type { Logger } from '../../kit/log.ts';
import { sleep } from '../../kit/retry.ts';
import { foldActivity, forgetActivity, type Grain } from './store.ts';

export interface ActivityKeeper {
  start(): void;
  stop(): Promise<void>;
}

const everyMs = 2_000;
const rowsAtOnce = 5_000;
const forgetEveryMs = 10 * 60_000;
const daySeconds = 24 * 3_600;
/** A little longer than anybody asks for. */
const keptSeconds: Record<Grain, number> = {
  minute: 2 * 3_600,
  tenMinutes: 26 * 3_600,
  hour: 8 * daySeconds,
  sixHours: 32 * daySeconds,
};

/** Keeps the figures of what ended: on as many nodes as there are, each takes what no other has taken. */
export function createActivityKeeper({ database, log }: { database: Database; log: Logger }): ActivityKeeper {
  const stopping = new AbortController();
  let keeping: Promise<void> | undefined;
  let forgotAt = -Infinity;

  async function keep(): Promise<void> {
    let told = false;
    while (!stopping.signal.aborted) {
      try {
        const isMore = (await foldActivity(database, rowsAtOnce)) === rowsAtOnce;
        await forgetOld();
        told = false;
        if (isMore) continue;
      } catch (error) {
        if (!told)
          log.warn(
            { err: error },
            'the figures of what ended were not brought up to date; it is tried again',
          );
        told = true;
      }
      await sleep(everyMs, stopping.signal);
    }
  }

  async function forgetOld(): Promise<void> {
    if (performance.now() - forgotAt < forgetEveryMs) return;
    for (const [grain, kept] of Object.entries(keptSeconds))
      await forgetActivity(database, grain as Grain, kept);
    forgotAt = performance.now();
  }

  return {
    start() {
      keeping = keep();
    },
    async stop() {
      stopping.abort();
      await keeping;
    },
  };
}
