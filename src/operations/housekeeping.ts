import type { Database } from '../kit/db/database.ts';
import { ensurePartitions } from '../kit/db/migrate.ts';
import type { Logger } from '../kit/log.ts';
import { tidy } from './auto-batch/store.ts';
import { forgetExpired } from './store/keys.ts';

export interface Housekeeping {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Counts completed items towards the next vacuum. */
  completed(count: number): void;
}

const vacuumEvery = 50_000;
const partitionsEveryMs = 60 * 60_000;
const keysEveryMs = 60_000;
const batchesEveryMs = 60_000;
const keysAtOnce = 1_000;

/** What keeps the tables of the ledger fit: partitions ahead of time, old idempotency keys gone, and a vacuum by the workers (work.md, rule 12). */
export function createHousekeeping(database: Database, log: Logger): Housekeeping {
  let sinceVacuum = 0;
  let vacuuming: Promise<void> | undefined;
  const timers: NodeJS.Timeout[] = [];
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
  const oldKeys = (): Promise<void> =>
    attempt('deleting old idempotency keys', async () => {
      while ((await forgetExpired(database, keysAtOnce)) === keysAtOnce);
    });

  return {
    async start() {
      await partitions();
      timers.push(setInterval(() => void partitions(), partitionsEveryMs));
      timers.push(setInterval(() => void oldKeys(), keysEveryMs));
      timers.push(
        setInterval(() => void attempt('looking after auto-batches', () => tidy(database)), batchesEveryMs),
      );
      for (const timer of timers) timer.unref();
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await vacuuming;
    },
    completed(count) {
      sinceVacuum += count;
      if (sinceVacuum < vacuumEvery || vacuuming) return;
      sinceVacuum = 0;
      vacuuming = attempt('VACUUM of the work tables', () =>
        database.raw('VACUUM work, turn, lane, wake, ab_head, ab_batch'),
      ).finally(() => {
        vacuuming = undefined;
      });
    },
  };
}
