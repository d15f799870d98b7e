import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { missingMigrations, type MigrationFile } from './migrate.ts';
import { withSchemaClient } from './schema-lock.ts';

/** What a migration does to a table that was there before: the strongest lock, and whether all of it is read or written anew. */
export interface Touch {
  lock: string;
  work: 'none' | 'reads' | 'writes';
}

/** `migrations/locks.json`: by migration and table, as `test/upgrade/locks.test.ts` observed them in PostgreSQL. */
export type Locks = Record<string, Record<string, Touch>>;

interface PlannedTable extends Touch {
  table: string;
  /** As PostgreSQL last counted, with partitions. */
  rows: number;
  bytes: number;
  seconds: number;
  /** Others may read and write it meanwhile. */
  letsOthersWork: boolean;
}

export interface PlannedMigration {
  name: string;
  compatible: boolean;
  says: string;
  tables: PlannedTable[];
}

export interface MigrationPlan {
  /** The last one that was applied; undefined in a database without tables of svc. */
  at: string | undefined;
  migrations: PlannedMigration[];
}

/** A second of reading and of writing anew, on a disk of the slower sort. */
const bytesASecond = { none: Infinity, reads: 100_000_000, writes: 20_000_000 };
const harmless = new Set(['AccessShareLock', 'RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock']);

const readSizes = `SELECT c.relname AS table, coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 AS rows,
    coalesce(sum(pg_total_relation_size(p.oid)), 0)::float8 AS bytes
  FROM pg_class c CROSS JOIN LATERAL (
    SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf UNION SELECT c.oid WHERE c.relkind = 'r') t(relid)
  JOIN pg_class p ON p.oid = t.relid
  WHERE c.oid = to_regclass(c.relname) AND c.relname = ANY ($1::text[]) GROUP BY c.relname`;

interface Size {
  table: string;
  rows: number;
  bytes: number;
}

/** What a start of this release would do to the database. In a transaction that may write nothing. */
export function planMigration(url: string, directory: string): Promise<MigrationPlan> {
  return withSchemaClient(url, async (client) => {
    await client.query('BEGIN READ ONLY');
    const { at, missing } = await missingMigrations(client, { directory });
    const locks = JSON.parse(await readFile(join(directory, 'locks.json'), 'utf8')) as Locks;
    const sizes = await sizesOf(client, locks, missing);
    const migrations = missing.map((file) => ({
      name: file.name,
      compatible: file.compatible,
      says: reasonOf(file),
      tables: tablesOf(locks[file.name] ?? {}, sizes),
    }));
    return { at, migrations };
  });
}

async function sizesOf(
  client: Client,
  locks: Locks,
  missing: readonly MigrationFile[],
): Promise<ReadonlyMap<string, Size>> {
  const tables = new Set(missing.flatMap(({ name }) => Object.keys(locks[name] ?? {})));
  const { rows } = await client.query<Size>(readSizes, [[...tables]]);
  return new Map(rows.map((size) => [size.table, size]));
}

/** Tables that are not there are made, or renamed, by a migration before. */
function tablesOf(touches: Record<string, Touch>, sizes: ReadonlyMap<string, Size>): PlannedTable[] {
  return Object.entries(touches).flatMap(([table, touch]) => {
    const size = sizes.get(table);
    if (!size) return [];
    const seconds = Math.ceil(size.bytes / bytesASecond[touch.work]);
    return [{ ...touch, ...size, seconds, letsOthersWork: harmless.has(touch.lock) }];
  });
}

/** Functions may be replaced while older nodes call them. */
function reasonOf({ version, sql }: MigrationFile): string {
  if (version === 0) return 'functions and triggers are applied again.';
  return /^-- \w+: (.*)/.exec(sql)?.[1] ?? '';
}

/** For people. */
export function describePlan({ at, migrations }: MigrationPlan): string[] {
  if (migrations.length === 0)
    return [`Nothing is to be done: the database is at ${at}, as this release is.`];
  const breaking = migrations.filter(({ compatible }) => !compatible);
  return [
    at === undefined ? 'The database has no tables of svc yet.' : `The database is at ${at}.`,
    breaking.length > 0 && at !== undefined
      ? `Stop all older nodes first: they do not survive ${breaking.map(({ name }) => name).join(', ')}.`
      : 'Older nodes may go on meanwhile.',
    ...migrations.flatMap(({ name, compatible, says, tables }) => [
      `  ${name}  (${compatible ? 'compatible' : 'breaking'}) ${says}`,
      ...tables.map(describeTable),
    ]),
    'Nothing was changed. Each migration is a transaction of its own; one that waits 3 s for a table lets the others pass and tries again.',
  ];
}

function describeTable({ table, lock, work, rows, bytes, seconds, letsOthersWork }: PlannedTable): string {
  const size = `${Math.round(rows)} rows, ${Math.ceil(bytes / 1_000_000)} MB`;
  const time = work === 'none' ? 'for a moment' : `for about ${Math.max(1, seconds)} s`;
  const doing = { none: '', reads: ', all of it is read', writes: ', all of it is written anew' }[work];
  return `      ${table} (${size}): ${lock} ${time}${doing}${letsOthersWork ? '; others go on' : '; others wait'}`;
}
