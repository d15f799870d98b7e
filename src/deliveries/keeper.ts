import type { Ground } from '../kit/ground.ts';
import { keepPartitions, type PartitionedTable } from '../kit/db/partitions.ts';
import { forgetReplays } from './replay/store.ts';
import { forgetResults } from './store/forget.ts';

/** Keeps the days of messages and deliveries ahead, and drops the old ones. */
interface MessageKeeper {
  start(): void;
  stop(): Promise<void>;
}

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

export function createMessageKeeper(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  keepDays: number,
): MessageKeeper {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  async function rotate(): Promise<void> {
    let waitMs = everyMs;
    try {
      await keepPartitions(database, messagePartitions, keepDays);
      await forgetReplays(database, keepDays);
      await forgetResults(database);
    } catch (error) {
      waitMs = againMs;
      log.warn({ err: error }, 'looking after the days of messages failed; it is tried again');
    }
    if (isStopped) return;
    timer = setTimeout(start, waitMs);
    timer.unref();
  }

  function start(): void {
    round = rotate();
  }

  return {
    start,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
