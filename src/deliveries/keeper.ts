import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import type { Ground } from '../kit/ground.ts';
import { createPeriodic, type Periodic } from '../kit/periodic.ts';
import { forgetReplays } from './replay/store.ts';
import { forgetResults } from './store/forget.ts';

export const messagePartitions: PartitionedTable[] = [
  {
    table: 'message',
    key: 'id',
    by: 'day',
    ahead: 7,
    hasDefault: true,
    fillfactor: 100,
    keptAs: 'messages',
    large: ['body', 'result', 'keys'],
  },
  {
    table: 'delivery',
    key: 'message_id',
    by: 'day',
    ahead: 7,
    hasDefault: true,
    fillfactor: 90,
    keptAs: 'messages',
    large: ['log', 'error'],
  },
];

const everyMs = 60 * 60_000;
/** After a failure, such as an open reader of what is to be dropped. */
const againMs = 60_000;

/** Keeps the days of messages and deliveries ahead, and drops the old ones. */
export function createMessageKeeper(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  keepDays: number,
): Periodic {
  return createPeriodic({
    log,
    what: 'looking after the days of messages',
    everyMs,
    againMs,
    async round() {
      await keepPartitions(database, messagePartitions, keepDays);
      await forgetReplays(database, keepDays);
      await forgetResults(database);
    },
  });
}
