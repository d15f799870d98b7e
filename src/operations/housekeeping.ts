import type { Database } from '../kit/db/database.ts';
import { ensurePartitions } from '../kit/db/migrate.ts';
import type { Logger } from '../kit/log.ts';

export interface Housekeeping {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Counts completed items towards the next vacuum. */
  completed(count: number): void;
}

const vacuumEvery = 50_000;
const partitionsEveryMs = 60 * 60_000;

/** What keeps the tables of the ledger fit: partitions ahead of time, and a vacuum by the workers (work.md, rule 12). */
export function createHousekeeping(database: Database, log: Logger): Housekeeping {
  let sinceVacuum = 0;
  let vacuuming: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const told = new Set<string>();

  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // Without ownership of the tables this is the operator's job; once is enough to say so.
      if (!told.has(what)) log.warn({ err: error }, `${what} failed; it is tried again`);
      told.add(what);
    }
  }

  const partitions = (): Promise<void> =>
    attempt('making history partitions', () => ensurePartitions(database));

  return {
    async start() {
      await partitions();
      timer = setInterval(() => void partitions(), partitionsEveryMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await vacuuming;
    },
    completed(count) {
      sinceVacuum += count;
      if (sinceVacuum < vacuumEvery || vacuuming) return;
      sinceVacuum = 0;
      vacuuming = attempt('VACUUM of the work tables', () =>
        database.raw('VACUUM work, turn, lane, wake'),
      ).finally(() => {
        vacuuming = undefined;
      });
    },
  };
}
