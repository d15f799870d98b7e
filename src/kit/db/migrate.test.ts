import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { sleep } from '../retry.ts';
import { migrate } from './migrate.ts';
import { briefly, isSchemaFree, underSchemaLock, withSchemaClient } from './schema-lock.ts';

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
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0001-one']);
    await put('0002-two.sql', two);
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0002-two']);
    expect((await migrate(empty.database, { directory })).applied).toEqual([]);
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
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0002-broken']);
  });

  it('refuses a file that was changed after it had been applied, but not for its line ends', async () => {
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    await put('0001-one.sql', one.replaceAll('\n', '\r\n'));
    expect((await migrate(empty.database, { directory })).applied).toEqual([]);
    await put('0001-one.sql', `${one} -- edited`);
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      '0001-one was changed after it had been applied',
    );
  });

  it('works beside a later release that older nodes survive, and leaves its functions as they are', async () => {
    const answer = (value: number): string =>
      `CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS $$ SELECT ${value} $$;`;
    await mkdir(join(directory, 'functions'));
    await put('functions/01-answer.sql', answer(1));
    await put('0001-one.sql', one);
    await put('0002-two.sql', '-- compatible: adds a table.\nCREATE TABLE two (id int);');
    await put('0003-three.sql', '-- compatible: adds a table.\nCREATE TABLE three (id int);');
    await migrate(empty.database, { directory });
    await rm(join(directory, '0002-two.sql'));
    await rm(join(directory, '0003-three.sql'));
    await put('functions/01-answer.sql', answer(0));
    expect(await migrate(empty.database, { directory })).toEqual({
      applied: [],
      later: ['0002-two', '0003-three'],
    });
    expect(await empty.database.raw('SELECT answer()')).toEqual([{ answer: 1 }]);
    await put('0001-one.sql', `${one} -- edited`);
    await expect(migrate(empty.database, { directory })).rejects.toThrow('0001-one was changed');
  });

  it('refuses a later release of which one migration ends older nodes, and one whose journal does not say', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    await put('0003-three.sql', '-- compatible: adds a table.\nCREATE TABLE three (id int);');
    await migrate(empty.database, { directory });
    await rm(join(directory, '0002-two.sql'));
    await rm(join(directory, '0003-three.sql'));
    const newer = 'The database is newer than this release: it has migration 0002-two';
    await expect(migrate(empty.database, { directory })).rejects.toThrow(newer);
    await empty.database.raw('ALTER TABLE migrations DROP COLUMN compatible');
    await expect(migrate(empty.database, { directory })).rejects.toThrow(newer);
    await put('0002-two.sql', two);
    await put('0003-three.sql', '-- compatible: adds a table.\nCREATE TABLE three (id int);');
    await put('0004-four.sql', '-- compatible: nothing.\nSELECT 4;');
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0004-four']);
    expect(await empty.database.raw('SELECT compatible FROM migrations ORDER BY version')).toEqual(
      [false, false, false, true].map((compatible) => ({ compatible })),
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
      'Two migrations have the number 1: 0001-a and 0001-b.',
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

  it('waits for no other start when there is nothing to apply', async () => {
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    await withSchemaClient(empty.database.directUrl, async (client) => {
      await client.query('BEGIN');
      expect(await isSchemaFree(client)).toBe(true);
      // This holds the shared lock, for which a migration would wait.
      expect((await migrate(empty.database, { directory })).applied).toEqual([]);
      await client.query('COMMIT');
    });
  });

  it('waits for a migration that is under way, and looks again: it may be of a later release', async () => {
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    const start = await withSchemaClient(empty.database.directUrl, (client) =>
      underSchemaLock(client, briefly, async () => {
        const started = migrate(empty.database, { directory }).catch((error: unknown) => error);
        expect(await Promise.race([started, sleep(1_000)])).toBeUndefined();
        await client.query("INSERT INTO migrations (version, name, checksum) VALUES (2, '0002-two', 'x')");
        return { started };
      }),
    );
    expect(await start.started).toMatchObject({
      message: expect.stringContaining('newer than this release') as string,
    });
  });

  it('has the database end a session that is lost with the lock', async () => {
    const limit = await withSchemaClient(empty.database.directUrl, (client) =>
      underSchemaLock(client, briefly, async () => {
        const { rows } = await client.query('SHOW idle_in_transaction_session_timeout');
        return rows;
      }),
    );
    expect(limit).toEqual([{ idle_in_transaction_session_timeout: '10s' }]);
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
    expect((await running.migration).applied).toEqual(['0002-two']);
  });

  it('applies functions after what is numbered, and again when one changes', async () => {
    const answer = (value: number): string =>
      `CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS $$ SELECT ${value} + count(*)::int FROM one $$;`;
    await mkdir(join(directory, 'functions'));
    await put('functions/01-answer.sql', answer(1));
    await put('0001-one.sql', one);
    const asked = async () => (await empty.database.raw('SELECT answer()'))[0]?.['answer'];
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0001-one', 'functions']);
    expect(await asked()).toBe(1);
    expect((await migrate(empty.database, { directory })).applied).toEqual([]);
    await put('functions/01-answer.sql', answer(2));
    expect((await migrate(empty.database, { directory })).applied).toEqual(['functions']);
    expect(await asked()).toBe(2);
  });

  it('applies functions again with the last migration that is missing: one that makes a table anew takes its trigger away', async () => {
    await mkdir(join(directory, 'functions'));
    await put(
      'functions/01-told.sql',
      `CREATE TABLE IF NOT EXISTS told (n int);
      CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO told SELECT count(*) FROM one; RETURN NULL; END $$;
      CREATE OR REPLACE TRIGGER tell AFTER INSERT ON one EXECUTE FUNCTION tell();`,
    );
    await put('0001-one.sql', one);
    await migrate(empty.database, { directory });
    await put('0002-anew.sql', '-- compatible: no.\nDROP TABLE one;\nCREATE TABLE one (id int, more int);');
    await put(
      '0003-three.sql',
      '-- compatible: adds a table.\nCREATE TABLE three (id int);\nINSERT INTO one VALUES (1);',
    );
    expect((await migrate(empty.database, { directory })).applied).toEqual([
      '0002-anew',
      '0003-three',
      'functions',
    ]);
    await empty.database.raw('INSERT INTO one VALUES (2)');
    expect(await empty.database.raw('SELECT n FROM told')).toEqual([{ n: 2 }]);
    expect((await migrate(empty.database, { directory })).applied).toEqual([]);
  });

  it('takes the migrations that a file replaces for that file, when all of them were applied', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    await migrate(empty.database, { directory });
    const journal = await empty.database.raw('SELECT name, checksum FROM migrations ORDER BY version');
    await rm(join(directory, '0002-two.sql'));
    await put('0001-both.sql', '-- compatible: no older node exists.\nCREATE TABLE two (id int);');
    await rm(join(directory, '0001-one.sql'));
    await put('0005-three.sql', '-- compatible: adds a table.\nCREATE TABLE three (id int);');
    await put('replaced.json', JSON.stringify(journal));
    expect((await migrate(empty.database, { directory })).applied).toEqual(['0005-three']);
    expect(await tables()).toEqual(['migrations', 'three', 'two']);
    await empty.database.raw('DELETE FROM migrations WHERE version > 1');
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      'The database ends at migration 0001-one, and this release begins after 0002-two.',
    );
  });

  it('refuses a database that has a migration between those of the code', async () => {
    await put('0001-one.sql', one);
    await put('0002-two.sql', two);
    await put('0004-four.sql', '-- compatible: nothing.\nSELECT 4;');
    await migrate(empty.database, { directory });
    await rm(join(directory, '0002-two.sql'));
    await expect(migrate(empty.database, { directory })).rejects.toThrow(
      'it has migration 0002-two, this release does not',
    );
  });
});
