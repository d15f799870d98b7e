import type { Database } from '../kit/db/database.ts';
import { isOutage } from '../kit/db/faults.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Logger } from '../kit/log.ts';
import { exchangePartitions } from './exchanges/exchange-log.ts';
import { forgetOwners } from './store/owners.ts';
import { daysOfOldestUnfinished } from './store/backlog.ts';
import { forgetExpired } from './store/keys.ts';

export interface Housekeeping {
  start(): void;
  stop(): Promise<void>;
}

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

/** What keeps the tables of the ledger fit: partitions ahead of time, and old idempotency keys gone. */
export function createHousekeeping(database: Database, log: Logger, keepDays: KeptDays): Housekeeping {
  const timers: NodeJS.Timeout[] = [];
  const told = new Set<string>();

  async function attempt(what: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      // Without ownership of the tables this is the operator's job; once is enough to say so.
      if (!told.has(what)) log.warn({ err: error }, `${what} failed; it is tried again`);
      // An outage is told elsewhere; what comes after it may be another fault.
      if (!isOutage(error)) told.add(what);
      return false;
    }
  }

  let stopped = false;
  let making: Promise<void> | undefined;
  let nextPartitions: NodeJS.Timeout | undefined;
  async function partitions(): Promise<void> {
    await attempt('forgetting whose operations were that are gone', () => forgetOwners(database));
    const made = await attempt('making history partitions', () => keepHistory(database, keepDays.operations));
    await attempt('making partitions of exchanges', () =>
      keepPartitions(database, exchangePartitions, keepDays.exchanges),
    );
    if (stopped) return;
    nextPartitions = setTimeout(() => void partitions(), made ? partitionsEveryMs : partitionsAgainMs);
    nextPartitions.unref();
  }
  const oldKeys = (): Promise<boolean> =>
    attempt('deleting old idempotency keys', async () => {
      while ((await forgetExpired(database, keysAtOnce)) === keysAtOnce);
    });

  return {
    start() {
      making = partitions();
      timers.push(setInterval(() => void oldKeys(), keysEveryMs));
      for (const timer of timers) timer.unref();
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      clearTimeout(nextPartitions);
      await making;
    },
  };
}
