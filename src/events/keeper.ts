import type { Database } from '../kit/db/database.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Logger } from '../kit/log.ts';

/** Keeps the months of the audit log and the days of events ahead, and drops the old ones. */
interface EventKeeper {
  start(): void;
  stop(): Promise<void>;
}

export const auditPartitions: PartitionedTable[] = [
  { table: 'audit_log', key: 'id', by: 'month', ahead: 12, large: ['details'] },
];

export const eventPartitions: PartitionedTable[] = [
  {
    table: 'event',
    key: 'id',
    by: 'day',
    ahead: 7,
    hasDefault: true,
    fillfactor: 100,
    keptAs: 'events',
    large: ['data'],
  },
];

const everyMs = 60 * 60_000;

interface KeptDays {
  audit: number;
  events: number;
}

export function createEventKeeper(
  { database, log }: { database: Database; log: Logger },
  keepDays: KeptDays,
): EventKeeper {
  const timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<unknown>>();

  function every(what: string, tables: PartitionedTable[], days: number): void {
    const run = (): void => {
      const round = keepPartitions(database, tables, days)
        // Nothing is due for days, so the next round is soon enough.
        .catch((error: unknown) => log.warn({ err: error }, `${what} failed; it is tried again`))
        .finally(() => running.delete(round));
      running.add(round);
    };
    run();
    timers.push(setInterval(run, everyMs).unref());
  }

  return {
    start() {
      every('looking after the months of the audit log', auditPartitions, keepDays.audit);
      every('looking after the days of events', eventPartitions, keepDays.events);
    },
    async stop() {
      timers.forEach(clearInterval);
      await Promise.all(running);
    },
  };
}
