import { Logger, run, runMigrations } from 'graphile-worker';
import { makeDatabase, openPool } from '../postgres.ts';
import type { QueuePeer } from '../queue-under-test.ts';
import { makeOperationTable, withOperation } from './operation-row.ts';

const add = {
  name: 'bench-graphile-add',
  text: "SELECT graphile_worker.add_job('noop', json_build_object('operationId', $1::text))",
};

/** graphile-worker at the setting that was its fastest: a local queue of 500. */
export async function start(callers: number): Promise<QueuePeer> {
  const made = await makeDatabase();
  const pool = openPool(made.url, callers);
  await runMigrations({ pgPool: pool });
  await pool.query(makeOperationTable);
  const workerPool = openPool(made.url, 20);
  let done = 0;
  const runner = await run({
    pgPool: workerPool,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    taskList: { noop: async () => void (done += 1) },
    preset: {
      worker: {
        concurrentJobs: 100,
        pollInterval: 50,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
      },
    },
  });
  return {
    enqueue: () =>
      withOperation(pool, (client, operationId) => client.query({ ...add, values: [operationId] })),
    done: async () => done,
    async settled() {
      const { rows } = await pool.query<{ left: number }>(
        'SELECT count(*)::int AS left FROM graphile_worker._private_jobs',
      );
      return rows[0]?.left === 0;
    },
    async close() {
      await runner.stop();
      await workerPool.end();
      await pool.end();
      await made.close();
    },
  };
}
