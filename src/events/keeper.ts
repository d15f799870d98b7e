import type { Database } from '../kit/db/database.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Logger } from '../kit/log.ts';
import { createPeriodic, together, type Periodic } from '../kit/periodic.ts';

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

/** Keeps the months of the audit log and the days of events ahead, and drops the old ones. */
export function createEventKeeper(
  { database, log }: { database: Database; log: Logger },
  keepDays: KeptDays,
): Periodic {
  // Nothing is due for days, so that after a failure the next round is soon enough.
  const every = (what: string, tables: PartitionedTable[], days: number): Periodic =>
    createPeriodic({ log, what, everyMs, round: () => keepPartitions(database, tables, days) });
  return together([
    every('looking after the months of the audit log', auditPartitions, keepDays.audit),
    every('looking after the days of events', eventPartitions, keepDays.events),
  ]);
}
