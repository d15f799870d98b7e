import type { Client } from 'pg';
import type { Database } from './database.ts';
import { briefly, underSchemaLock, withSchemaClient } from './schema-lock.ts';

/** A table that is partitioned by the time in a UUIDv7. */
export interface PartitionedTable {
  table: string;
  /** The column with the UUIDv7. */
  key: string;
  by: 'month' | 'day';
  /** Partitions beyond the present one that are there at any time, so that a lock which is held for days delays nothing. */
  ahead: number;
  /** Has a default partition, where a row stays until its own is made. */
  hasDefault?: boolean;
  /** For rows that are updated, and plans that must not be those of a small table (`svc_make_partition`). */
  fillfactor?: number;
  /** The kind of history of which a project may want fewer days kept (`svc_kept_from`). */
  keptAs?: string;
  /** Columns that make up most of a row. */
  large?: readonly string[];
}

/** Default partitions of up to so many bytes are emptied at once. */
const mostToMove = 10_000_000;

/**
 * Makes the partitions that are due and drops those that ended `keepDays` or more before this day; without it none. Earlier go those
 * of which no project wants anything kept, when they ended `leastDays` ago. Takes the default partition of an older release away
 * where a table has none any more. Takes no lock that is not free at once, does the rest, and throws the first fault.
 */
export async function keepPartitions(
  database: Database,
  tables: readonly PartitionedTable[],
  keepDays?: number,
  leastDays = 1,
): Promise<void> {
  const faults: unknown[] = [];
  await withSchemaClient(database.directUrl, async (client) => {
    for (const table of tables)
      for (const step of stepsFor(table, keepDays, leastDays))
        await underSchemaLock(client, briefly, () => step(client)).catch((error: unknown) =>
          faults.push(error),
        );
    if (faults.length > 0) throw faults[0];
  });
}

/**
 * Each in a transaction of its own: making a partition locks the default one and not the parent, dropping one locks the parent first, as
 * everybody does who reads.
 */
function stepsFor(
  { table, key, by, ahead, hasDefault = false, fillfactor, keptAs }: PartitionedTable,
  keepDays: number | undefined,
  leastDays: number,
): ((client: Client) => Promise<unknown>)[] {
  const defaultKey = hasDefault ? key : null;
  const make = (client: Client): Promise<unknown> =>
    client.query('SELECT svc_make_partitions($1, $2, $3, $4, $5)', [
      table,
      by,
      ahead,
      defaultKey,
      fillfactor ?? null,
    ]);
  const drop = (client: Client): Promise<unknown> =>
    client.query('SELECT svc_drop_partitions($1, $2, $3)', [table, defaultKey, keepDays]);
  const retire = (client: Client): Promise<unknown> =>
    client.query('SELECT svc_retire_default($1, $2, $3, $4, $5)', [
      table,
      by,
      key,
      fillfactor ?? null,
      mostToMove,
    ]);
  const dropEarly = (client: Client): Promise<unknown> =>
    client.query('SELECT svc_drop_unkept($1, $2, $3)', [table, keptAs, leastDays]);
  return [
    ...(hasDefault ? [] : [retire]),
    make,
    ...(keepDays === undefined ? [] : [drop]),
    ...(keepDays === undefined || keptAs === undefined ? [] : [dropEarly]),
  ];
}
