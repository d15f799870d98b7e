import type { Database } from '../kit/db/database.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Logger } from '../kit/log.ts';
import { createPeriodic, together, type Periodic } from '../kit/periodic.ts';
import { exchangePartitions } from './exchanges/exchange-log.ts';
import { daysOfOldestUnfinished } from './store/backlog.ts';
import { foldCounts } from './store/counts.ts';
import { forgetExpired } from './store/keys.ts';
import { forgetOwners } from './store/owners.ts';

const monthly = { by: 'month', ahead: 3, keptAs: 'operations' } as const;

export const historyPartitions: PartitionedTable[] = [
  { table: 'operation', key: 'id', ...monthly, fillfactor: 80, large: ['request', 'result', 'errors'] },
  { table: 'record', key: 'operation_id', ...monthly, fillfactor: 80, large: ['payload', 'outcome'] },
  { table: 'operation_log', key: 'operation_id', ...monthly, fillfactor: 80, large: ['message'] },
  { table: 'operation_mark', key: 'operation_id', ...monthly, fillfactor: 100, hasDefault: true },
  { table: 'written_record', key: 'operation_id', ...monthly, fillfactor: 100 },
];

const partitionsEveryMs = 60 * 60_000;
/** After a failure. */
const partitionsAgainMs = 60_000;
const keysEveryMs = 60_000;
const keysAtOnce = 1_000;
const countsEveryMs = 1_000;
const countsAtOnce = 5_000;

/** Nothing is dropped of the month in which the oldest unfinished operation was accepted, or of a later one. */
export async function keepHistory(database: Database, keepDays?: number): Promise<void> {
  if (keepDays === undefined) return keepPartitions(database, historyPartitions);
  const needed = await daysOfOldestUnfinished(database);
  await keepPartitions(database, historyPartitions, Math.max(keepDays, needed + 1), needed + 1);
}

/** In days; without a number all are kept. */
export interface KeptDays {
  operations?: number | undefined;
  exchanges?: number | undefined;
}

/** What keeps the tables of the ledger fit: partitions ahead of time, counts where they are read, and old idempotency keys gone. */
export function createHousekeeping(database: Database, log: Logger, keepDays: KeptDays): Periodic {
  const hourly = { log, everyMs: partitionsEveryMs, againMs: partitionsAgainMs };
  return together([
    createPeriodic({
      ...hourly,
      what: 'making history partitions',
      round: () => keepHistory(database, keepDays.operations),
    }),
    createPeriodic({
      ...hourly,
      what: 'making partitions of exchanges',
      round: () => keepPartitions(database, exchangePartitions, keepDays.exchanges),
    }),
    createPeriodic({
      ...hourly,
      what: 'forgetting whose operations were that are gone',
      round: () => forgetOwners(database),
    }),
    createPeriodic({
      log,
      what: 'deleting old idempotency keys',
      everyMs: keysEveryMs,
      round: async () => (await forgetExpired(database, keysAtOnce)) === keysAtOnce,
    }),
    createPeriodic({
      log,
      what: 'counting what arrived',
      everyMs: countsEveryMs,
      round: async () => (await foldCounts(database, countsAtOnce)) === countsAtOnce,
    }),
  ]);
}
