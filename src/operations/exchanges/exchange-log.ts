import { createBatchWriter } from '../../kit/batch-writer.ts';
import type { PartitionedTable } from '../../kit/db/partitions.ts';
import type { Ground } from '../../kit/ground.ts';
import type { ProviderClient, ProviderExchange } from '../../providers/index.ts';
import { rowOf, type ExchangeOf, type ExchangeRow } from './exchange.ts';
import { insertExchanges } from './store.ts';

/** Keeps what was sent to providers for operations, and what they answered. Writes in batches, off the path. */
export interface ExchangeLog {
  /**
   * The client, whose calls are kept from now on as exchanges of the operation: each request that it sends, also one that it repeats.
   * `failed`: only those that did not succeed, of what is asked beside the work.
   */
  watch(client: ProviderClient, of: ExchangeOf, which?: 'all' | 'failed'): ProviderClient;
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
    watch: (client, of, which = 'all') =>
      watched(client, (exchange) => {
        if (which === 'failed' && succeeded(exchange)) return;
        writer.add(rowOf({ ...of, ...exchange }));
      }),
    close: () => writer.close(),
  };
}

/** What never left, because a lease or a budget kept it back, is no exchange. */
function watched(client: ProviderClient, note: (exchange: ProviderExchange) => void): ProviderClient {
  return {
    send: (request, maySend, told) =>
      client.send(request, maySend, (exchange) => {
        told?.(exchange);
        const { result } = exchange;
        if ('answer' in result || result.fault.sent || result.fault.kind === 'connect') note(exchange);
      }),
  };
}

function succeeded({ result }: ProviderExchange): boolean {
  return 'answer' in result && result.answer.status < 400;
}
