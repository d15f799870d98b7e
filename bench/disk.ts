/** `npm run bench:disk`: what an asynchronous write of one contact, created and done, leaves in the database, by table. */
import { openDatabase } from '../src/kit/db/database.ts';
import { endAll } from './at-end.ts';
import { scaled } from './figure.ts';
import { startProvider } from './provider.ts';
import { openQueuedWrites } from './queued-writes.ts';
import { startStage } from './stage.ts';

const groups = 20;
const writes = scaled(50_000);
/** Requests and answers are written after their operations. */
const settleMs = 3_000;

/** Bytes of each table with its indexes; partitions count to their table. */
const sizes = `SELECT root.relname AS table, sum(pg_total_relation_size(c.oid))::float8 AS bytes,
    sum(pg_indexes_size(c.oid))::float8 AS indexes
  FROM pg_class c JOIN pg_class root ON root.oid = coalesce(pg_partition_root(c.oid), c.oid)
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') GROUP BY root.relname`;

const provider = await startProvider(groups);
const stage = await startStage(provider.origin, { groups: provider.groups });
const load = await openQueuedWrites(stage);
const database = openDatabase({ url: stage.databaseUrl, poolSize: 1, applicationName: 'svc bench' });
const sizesNow = async (): Promise<Map<unknown, { bytes: number; indexes: number }>> => {
  const rows = await database.raw(sizes);
  return new Map(
    rows.map(({ table, bytes, indexes }) => [table, { bytes: Number(bytes), indexes: Number(indexes) }]),
  );
};
try {
  const before = await sizesNow();
  await load.write(writes);
  await load.untilDone();
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const grown = [...(await sizesNow())].map(([table, { bytes, indexes }]) => ({
    table,
    'bytes a write': Math.round((bytes - (before.get(table)?.bytes ?? 0)) / writes),
    'of them indexes': Math.round((indexes - (before.get(table)?.indexes ?? 0)) / writes),
  }));
  console.table(
    grown
      .filter((one) => one['bytes a write'] > 0)
      .toSorted((one, other) => other['bytes a write'] - one['bytes a write']),
  );
} finally {
  await database.close();
  await load.close();
  await stage.close();
  await provider.close();
  await endAll();
}
