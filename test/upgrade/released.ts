import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { createEmptyDatabase, type TestDatabase } from '../database.ts';

/** When the dump was made. Deadlines in it are an hour later. */
const madeAt = '2026-11-22T10:48:07Z';

/**
 * A database that the release with migrations 0001 to 0022 filled: operations and records that ended and that wait, one behind
 * the other and in open batches, configs, a delivered message and one that is tried again, feeds. Of the ballast one row is left.
 */
export async function released(): Promise<TestDatabase> {
  const test = await createEmptyDatabase();
  const dump = gunzipSync(readFileSync(join(import.meta.dirname, 'release-0022.sql.gz'))).toString();
  const client = new Client({ connectionString: test.url });
  await client.connect();
  await client.query(dump);
  await client.query(`UPDATE public.clock SET shift = $1::timestamptz - now()`, [madeAt]);
  await client.end();
  return test;
}
