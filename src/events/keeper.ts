import type { Database } from '../kit/db/database.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Logger } from '../kit/log.ts';
import { forgetEvents } from './store.ts';

/** Keeps the months of the audit log ahead, and drops its old ones and old events. */
interface EventKeeper {
  start(): void;
  stop(): Promise<void>;
}

export const auditPartitions: PartitionedTable[] = [
  { table: 'audit_log', key: 'id', by: 'month', ahead: 12 },
];

const rotateEveryMs = 60 * 60_000;
const forgetEveryMs = 60_000;
const forgetAtOnce = 1_000;

export function createEventKeeper(
  { database, log }: { database: Database; log: Logger },
  auditKeepDays: number,
): EventKeeper {
  const timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<unknown>>();

  function every(ms: number, what: string, work: () => Promise<unknown>): void {
    const run = (): void => {
      const round = work()
        // Nothing is due for days, so the next round is soon enough.
        .catch((error: unknown) => log.warn({ err: error }, `${what} failed; it is tried again`))
        .finally(() => running.delete(round));
      running.add(round);
    };
    run();
    timers.push(setInterval(run, ms).unref());
  }

  return {
    start() {
      every(rotateEveryMs, 'looking after the months of the audit log', () =>
        keepPartitions(database, auditPartitions, auditKeepDays),
      );
      every(forgetEveryMs, 'forgetting old events', () => forgetEvents(database, forgetAtOnce));
    },
    async stop() {
      timers.forEach(clearInterval);
      await Promise.all(running);
    },
  };
}
