import type { Database } from '../kit/db/database.ts';
import { isOutage } from '../kit/db/faults.ts';
import type { Logger } from '../kit/log.ts';

export interface Vacuum {
  /** So many items more were ended. */
  ended(count: number): void;
  /** Waits for one that is on its way. */
  stop(): Promise<void>;
}

const everyItems = 50_000;
const tables = ['work', 'turn', 'lane', 'wake'];

/** Vacuums the small tables by what was done, which autovacuum's thresholds do not follow fast enough. */
export function createVacuum(database: Database, log: Logger, others: readonly string[]): Vacuum {
  let sinceLast = 0;
  let running: Promise<void> | undefined;
  let isTold = false;
  return {
    ended(count) {
      sinceLast += count;
      if (sinceLast < everyItems || running) return;
      sinceLast = 0;
      running = database
        .raw(`VACUUM ${[...tables, ...others].join(', ')}`)
        .then(() => undefined)
        .catch((error: unknown) => {
          // Without ownership of the tables this is the operator's job; once is enough to say so.
          if (!isTold) log.warn({ err: error }, 'VACUUM of the work tables failed; it is tried again');
          // An outage is told elsewhere; what comes after it may be another fault.
          isTold ||= !isOutage(error);
        })
        .finally(() => {
          running = undefined;
        });
    },
    async stop() {
      await running;
    },
  };
}
