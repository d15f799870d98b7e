import { PgBoss } from 'pg-boss';
import { makeDatabase, openPool } from '../postgres.ts';
import type { QueuePeer } from '../queue-under-test.ts';
import { makeOperationTable, withOperation } from './operation-row.ts';

const queue = 'noop';

/** pg-boss at the setting that was its fastest: four workers, each a hundred at a time, without a pause while there is more. */
export async function start(callers: number): Promise<QueuePeer> {
  const made = await makeDatabase();
  const boss = new PgBoss({ connectionString: made.url, max: 20 });
  boss.on('error', () => undefined);
  await boss.start();
  await boss.createQueue(queue);
  const pool = openPool(made.url, callers);
  await pool.query(makeOperationTable);
  let done = 0;
  await boss.work(
    queue,
    { batchSize: 100, localConcurrency: 4, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
    async (jobs) => void (done += jobs.length),
  );
  return {
    enqueue: () =>
      withOperation(pool, (client, operationId) =>
        boss.send(
          queue,
          { operationId },
          { db: { executeSql: (text, values) => client.query(text, values as unknown[]) } },
        ),
      ),
    done: async () => done,
    async settled() {
      const { rows } = await pool.query<{ left: number }>(
        "SELECT count(*)::int AS left FROM pgboss.job WHERE state < 'completed'",
      );
      return rows[0]?.left === 0;
    },
    async close() {
      await boss.stop({ graceful: false });
      await pool.end();
      await made.close();
    },
  };
}
