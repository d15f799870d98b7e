import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { missingMigrations } from '../../src/kit/db/migrate.ts';
import { describePlan, planMigration, type Locks, type Touch } from '../../src/kit/db/migration-plan.ts';
import { withSchemaClient } from '../../src/kit/db/schema-lock.ts';
import { createEmptyDatabase } from '../database.ts';
import { released } from './released.ts';

const directory = join(import.meta.dirname, '../../migrations');
const file = join(directory, 'locks.json');

/** Tables of svc with what stands for them on disk; those of a partitioned one by its name. */
const tables = `SELECT c.oid::text AS oid, root.relname AS name, pg_relation_filenode(c.oid)::text AS node,
    (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
  FROM pg_class c JOIN pg_class root ON root.oid = coalesce(pg_partition_root(c.oid), c.oid)
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY root.relname`;
const held = `SELECT l.relation::text AS oid, l.mode FROM pg_locks l
  WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.granted`;
const counted = `SELECT relid::text AS oid, seq_scan::int AS scans, (n_tup_upd + n_tup_del)::int AS changed FROM pg_stat_xact_user_tables`;

/** From the weakest on. */
const modes = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
];
/** The weakest lock that is reported of a table that was neither read nor written: reading a row or two takes a weaker one. */
const leastTold = modes.indexOf('RowExclusiveLock');
const works: readonly Touch['work'][] = ['none', 'reads', 'writes'];

interface Table {
  oid: string;
  name: string;
  node: string | null;
  indexes: number;
}

/** Applies it in a transaction of a session of its own, whose counts begin at zero, and looks what it holds before the commit. */
async function observe(url: string, sql: string): Promise<Record<string, Touch>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const before = (await client.query<Table>(tables)).rows;
  await client.query('BEGIN');
  // In small tables all would be read instead of an index.
  await client.query('SET LOCAL enable_seqscan = off');
  await client.query(sql);
  const after = new Map((await client.query<Table>(tables)).rows.map((table) => [table.oid, table]));
  const locks = Map.groupBy((await client.query<{ oid: string; mode: string }>(held)).rows, ({ oid }) => oid);
  const stats = (await client.query<{ oid: string; scans: number; changed: number }>(counted)).rows;
  await client.query('COMMIT');
  await client.end();
  const found: Record<string, Touch> = {};
  for (const { oid, name, node, indexes } of before) {
    const own = (locks.get(oid) ?? []).map(({ mode }) => modes.indexOf(mode));
    const strongest = Math.max(-1, ...own);
    const { scans = 0, changed = 0 } = stats.find((one) => one.oid === oid) ?? {};
    const now = after.get(oid);
    // One that is gone was copied before.
    const isAnew = changed > 0 || now === undefined || now.node !== node;
    const work = isAnew ? 'writes' : scans > 0 || now.indexes > indexes ? 'reads' : 'none';
    if (strongest < (work === 'none' ? leastTold : 0)) continue;
    const known = found[name];
    found[name] = {
      lock: modes[Math.max(strongest, modes.indexOf(known?.lock ?? ''))] ?? '',
      work: works[Math.max(works.indexOf(work), works.indexOf(known?.work ?? 'none'))] ?? 'none',
    };
  }
  return found;
}

describe('test/upgrade/locks', () => {
  it('migrations/locks.json says what each migration after the oldest release that is taken locks (UPDATE_LOCKS=1 writes it)', async () => {
    const test = await released();
    const { missing } = await withSchemaClient(test.url, (client) =>
      missingMigrations(client, { directory }),
    );
    const observed: Locks = {};
    for (const { name, sql } of missing) {
      const touches = await observe(test.url, sql);
      if (Object.keys(touches).length > 0) observed[name] = touches;
    }
    // On a database that has the functions they take other locks, because they replace them.
    observed['functions'] = await observe(test.url, missing.at(-1)?.sql ?? '');
    await test.drop();
    if (process.env['UPDATE_LOCKS']) writeFileSync(file, `${JSON.stringify(observed, null, 2)}\n`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(observed);
    expect(observed['0042-traces']).toEqual({
      work: { lock: 'AccessExclusiveLock', work: 'none' },
      event: { lock: 'AccessExclusiveLock', work: 'none' },
    });
    // It copies the events into a table by days.
    expect(observed['0027-event-days']?.['event']).toEqual({ lock: 'AccessExclusiveLock', work: 'writes' });
    expect(observed['0029-operation-marks']).toEqual({
      operation: { lock: 'AccessShareLock', work: 'reads' },
    });
  }, 60_000);

  it('a plan tells what a database lacks, with sizes, and changes nothing', async () => {
    const test = await released();
    const before = await test.database.raw('SELECT count(*) FROM migrations');
    await test.database.raw('ANALYZE');
    const plan = await planMigration(test.url, directory);
    const [{ count } = {}] = await test.database.raw('SELECT count(*)::int FROM operation');
    expect(plan.at).toBe('0022-home');
    const marks = plan.migrations.find(({ name }) => name === '0029-operation-marks');
    expect(marks?.tables).toMatchObject([
      { table: 'operation', rows: count, seconds: 1, letsOthersWork: true },
    ]);
    expect(plan.migrations.at(0)).toMatchObject({ name: '0023-names', compatible: false });
    const told = describePlan(plan).join('\n');
    expect(told).toContain('The database is at 0022-home.');
    expect(told).toContain('Stop all older nodes first');
    expect(told).toMatch(
      /0042-traces {2}\(compatible\) .*\n.*\n {6}work \(4 rows, 1 MB\): AccessExclusiveLock for a moment; others wait/,
    );
    expect(await test.database.raw('SELECT count(*) FROM migrations')).toEqual(before);
    await test.drop();
  }, 60_000);

  it('a plan of an empty database, and of one that lacks nothing', async () => {
    const test = await createEmptyDatabase();
    const { at, migrations } = await planMigration(test.url, directory);
    expect(at).toBeUndefined();
    expect(migrations.flatMap(({ tables: each }) => each)).toEqual([]);
    expect(await test.database.raw(`SELECT to_regclass('migrations') AS found`)).toEqual([{ found: null }]);
    await test.drop();
    expect(describePlan({ at: '0042-traces', migrations: [] })).toEqual([
      'Nothing is to be done: the database is at 0042-traces, as this release is.',
    ]);
  }, 60_000);

  it('svc migrate --plan prints it, as JSON too, and leaves an empty database empty', async () => {
    const test = await createEmptyDatabase();
    const env = {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: test.url,
      SVC_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    };
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, ['scripts/svc.mjs', 'migrate', '--plan', ...args], { env });
    expect((await run()).stdout).toContain('The database has no tables of svc yet.');
    const plan = JSON.parse((await run('--json')).stdout) as { migrations: { name: string }[] };
    expect(plan.migrations.map(({ name }) => name)).toContain('0042-traces');
    expect(await test.database.raw(`SELECT to_regclass('migrations') AS found`)).toEqual([{ found: null }]);
    await test.drop();
  }, 60_000);
});
