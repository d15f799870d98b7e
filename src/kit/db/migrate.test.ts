import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { ensurePartitions, migrate } from './migrate.ts';

const one = '-- compatible: adds a table.\nCREATE TABLE one (id int);';
const two = '-- breaking: renames a table.\nALTER TABLE one RENAME TO two;';

describe('src/kit/db/migrate', () => {
  let directory: string;
  let empty: TestDatabase;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-migrations-'));
    empty = await createEmptyDatabase();
  });

  afterEach(async () => {
    await empty.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const put = (name: string, text: string) => writeFile(join(directory, name), text);
  const tables = async () =>
    (
      await empty.database.raw(
        `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
      )
    ).map((row) => row['relname']);

  it('applies what is missing, in order and once', async () => {
    await put('0001-one.sql', one);
    expect(await migrate(empty.database, { directory })).toEqual({ applied: ['0001-one'] });
    await put('0002-two.sql', two);
    expect(await migrate(empty.database, { directory })).toEqual({ applied: ['0002-two'] });
    expect(await migrate(empty.database, { directory })).toEqual({ applied: [] });
    expect(await tables()).toEqual(['migrations', 'two']);
  });

  it('applies each once when several nodes start together', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    const runs = await Promise.all(Array.from({ length: 4 }, () => migrate(empty.database, { directory })));
    expect(runs.flatMap((run) => run.applied).sort()).toEqual(['0001-one', '0002-two']);
  });

  it('rolls a failing migration back whole and keeps those before it', async () => {
    await put('0001-one.sql', one);
    await put('0002-broken.sql', '-- compatible: no.\nCREATE TABLE half (id int);\nSELECT nonsense;');
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      'Migration 0002-broken: column "nonsense"',
    );
    expect(await tables()).toEqual(['migrations', 'one']);
    await put('0002-broken.sql', two);
    expect(await migrate(empty.database, { directory })).toEqual({ applied: ['0002-broken'] });
  });

  it('refuses a file that was changed after it had been applied, but not for its line ends', async () => {
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    await put('0001-one.sql', one.replaceAll('\n', '\r\n'));
    expect(await migrate(empty.database, { directory })).toEqual({ applied: [] });
    await put('0001-one.sql', `${one} -- edited`);
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      '0001-one was changed after it had been applied',
    );
  });

  it('refuses a database that is newer than the code', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    await migrate(empty.database, { directory });
    await rm(join(directory, '0002-two.sql'));
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      'The database is newer than this release: it has migration 0002-two',
    );
  });

  it('refuses a journal with a hole', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    await migrate(empty.database, { directory });
    await empty.database.raw('DELETE FROM migrations WHERE version = 1');
    await expect(migrate(empty.database, { directory })).rejects.toThrow('lacks migration 0001-one');
  });

  it.each([
    [
      'two files of one number',
      { '0001-a.sql': one, '0001-b.sql': two },
      'Two migrations have one number: 0001-a.sql and 0001-b.sql',
    ],
    ['another form of name', { '1_one.sql': one }, '1_one.sql is not named NNNN-name.sql'],
    [
      'no word on older nodes',
      { '0001-one.sql': 'CREATE TABLE one (id int);' },
      'Line 1 of 0001-one.sql must be',
    ],
  ])('refuses files with %s before it touches the database', async (_what, files, message) => {
    for (const [name, text] of Object.entries(files)) await put(name, text);
    await expect(migrate(empty.database, { directory })).rejects.toThrow(message);
    expect(await tables()).toEqual([]);
  });

  it('waits for a table in short turns, and goes on when it is free', async () => {
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    await put('0002-two.sql', two);
    const running = await empty.database.transaction(async (tx) => {
      await tx.rows({ name: 'test_hold', text: 'LOCK TABLE one IN ACCESS SHARE MODE' });
      const migration = migrate(empty.database, { directory });
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      return { migration };
    });
    expect(await running.migration).toEqual({ applied: ['0002-two'] });
  });

  it('makes the history partitions of four months, however many nodes ask', async () => {
    const full = await createTestDatabase();
    const { database } = full;
    try {
      await Promise.all([ensurePartitions(database), ensurePartitions(database), ensurePartitions(database)]);
      const partitions = await database.raw(
        `SELECT inhparent::regclass::text AS parent, count(*)::int AS months FROM pg_inherits
         WHERE pg_get_expr((SELECT relpartbound FROM pg_class WHERE oid = inhrelid), inhrelid) <> 'DEFAULT'
           AND inhparent::regclass::text IN ('operation', 'record', 'operation_log') GROUP BY 1 ORDER BY 1`,
      );
      expect(partitions).toEqual([
        { parent: 'operation', months: 4 },
        { parent: 'operation_log', months: 4 },
        { parent: 'record', months: 4 },
      ]);
    } finally {
      await full.drop();
    }
  });
});
