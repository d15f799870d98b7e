import { createBatchWriter } from '../../kit/batch-writer.ts';
import type { PartitionedTable } from '../../kit/db/partitions.ts';
import type { Ground } from '../../kit/ground.ts';
import { newId } from '../../kit/ids.ts';
import type { ProviderClient } from '../../providers/index.ts';
import { rowOf, type Exchange, type ExchangeOf, type ExchangeRow } from './exchange.ts';
import { insertExchanges } from './store.ts';

/** Keeps what was sent to providers for operations, and what they answered. Writes in batches, off the path. */
export interface ExchangeLog {
  /** The client, whose calls are kept from now on as exchanges of the operation. */
  watch(client: ProviderClient, of: ExchangeOf): ProviderClient;
  /** Writes what remains, if the database answers. */
  close(): Promise<void>;
}

export const exchangePartitions: PartitionedTable[] = [
  {
    table: 'exchange',
    key: 'id',
    by: 'day',
    ahead: 7,
    hasDefault: true,
    fillfactor: 100,
    keptAs: 'exchanges',
    large: ['request_body', 'answer_body'],
  },
];

const rowsPerBatch = 500;
/** In characters of bodies, with the database away. */
const mostWaiting = 8_000_000;

/** `keepDays`: 0 keeps nothing. */
export function createExchangeLog(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  keepDays: number,
): ExchangeLog {
  const writer = createBatchWriter<ExchangeRow>({
    log,
    what: 'exchanges with providers',
    rowsPerBatch,
    mostWaiting,
    weightOf: (row) => 500 + (row.request_body?.length ?? 0) + (row.answer_body?.length ?? 0),
    write: (rows) => insertExchanges(database, rows),
  });
  if (keepDays === 0) return { watch: (client) => client, close: () => writer.close() };
  return {
    watch: (client, of) => watched(client, (exchange) => writer.add(rowOf({ ...of, ...exchange }))),
    close: () => writer.close(),
  };
}

/** What never left, because a lease or a budget kept it back, is no exchange. */
function watched(
  client: ProviderClient,
  note: (exchange: Omit<Exchange, keyof ExchangeOf>) => void,
): ProviderClient {
  return {
    async send(request, maySend) {
      const id = newId();
      const startedAt = performance.now();
      const result = await client.send(request, maySend);
      if ('answer' in result || result.fault.sent || result.fault.kind === 'connect')
        note({ id, request, result, totalMs: performance.now() - startedAt });
      return result;
    },
  };
}
