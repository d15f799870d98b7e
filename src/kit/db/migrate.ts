import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { sqlState, type Database } from './database.ts';
import { patiently, underSchemaLock, withSchemaClient } from './schema-lock.ts';

/** SQLSTATE: nothing in search_path exists; the role may not do that. */
const noSchema = '3F000';
const notAllowed = '42501';

/** Of the functions in the journal. */
const functionsVersion = 0;

export interface MigrateOptions {
  /** The folder of the `NNNN-name.sql` files, with `functions/` and `replaced.json` where there are any. */
  directory: string;
}

interface Migration {
  version: number;
  name: string;
  checksum: string;
}
interface MigrationFile extends Migration {
  sql: string;
}
interface Migrations {
  files: MigrationFile[];
  /** Those of earlier releases that the files up to the same number stand for. */
  replaced: Migration[];
  /** What may be applied again at any time: functions, triggers and ballast. */
  functions: MigrationFile | undefined;
}

const journalTable = `CREATE TABLE IF NOT EXISTS migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Applies the migrations that are missing, each in a transaction of its own, the functions with the last of them or when they are not
 * those that were applied last, and returns the names of what it applied. A migration that makes a table anew takes its triggers away:
 * with the functions in its transaction nobody sees the table without them.
 * Throws when the files and the database do not belong together; nothing
 * is changed then.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(options.directory);
  return withSchemaClient(database.directUrl, async (client) => {
    const applied: string[] = [];
    for (;;) {
      const names = await underSchemaLock(client, patiently, () => applyNext(client, migrations)).catch(
        async (error: unknown) => {
          throw (await withoutSchema(client, error)) ?? error;
        },
      );
      if (names.length === 0) return { applied };
      applied.push(...names);
    }
  });
}

/** Whether migrations were ever applied in the database. Changes nothing. */
export function isMigrated(url: string): Promise<boolean> {
  return withSchemaClient(url, async (client) => {
    const { rows } = await client.query<{ found: boolean }>(
      "SELECT to_regclass('migrations') IS NOT NULL AS found",
    );
    return rows[0]?.found ?? false;
  });
}

/** Since PostgreSQL 15 a role that does not own the database makes no tables in the schema `public`. */
async function withoutSchema(client: Client, error: unknown): Promise<Error | undefined> {
  const isMissing = sqlState(error) === noSchema;
  if (!isMissing && !(sqlState(error) === notAllowed && / schema /.test((error as Error).message)))
    return undefined;
  const found = await client.query<{ role: string; database: string }>(
    'SELECT quote_ident(current_user) AS role, current_database() AS database',
  );
  const { role, database } = found.rows[0] ?? { role: 'svc', database: '' };
  return new Error(
    `the role ${role} may not make tables in the database ${database}. Give it a schema of its own, as the owner of the database: CREATE SCHEMA ${role} AUTHORIZATION ${role} (PostgreSQL looks there first, unless search_path says otherwise)`,
    { cause: error },
  );
}

/** What is to be run together next; throws when what was applied is not the beginning of what the code has. */
function planMigrations(
  { files, replaced, functions }: Migrations,
  journal: readonly Migration[],
): MigrationFile[] {
  const numbered = journal.filter(({ version }) => version > functionsVersion);
  const isOlder = replaced.length > 0 && numbered[0]?.checksum === replaced[0]?.checksum;
  if (isOlder) checkReplaced(replaced, numbered);
  const begin = isOlder ? (replaced.at(-1)?.version ?? 0) : 0;
  const known = files.filter(({ version }) => version > begin);
  const applied = numbered.filter(({ version }) => version > begin);
  checkApplied(known, applied);
  const last = journal.find(({ version }) => version === functionsVersion);
  const [next, ...later] = known.slice(applied.length);
  if (next && later.length > 0) return [next];
  const isChanged = functions?.checksum !== last?.checksum;
  return [next, next || isChanged ? functions : undefined].filter((file) => file !== undefined);
}

function checkReplaced(replaced: readonly Migration[], applied: readonly Migration[]): void {
  const last = replaced.at(-1)?.name;
  for (const [index, { checksum }] of replaced.entries()) {
    const done = applied[index];
    if (!done) {
      throw new Error(
        `The database ends at migration ${applied.at(-1)?.name}, and this release begins after ${last}. Start the release whose migrations end at ${last} once, then this one.`,
      );
    }
    if (done.checksum !== checksum) throw changed(done.name);
  }
}

function checkApplied(files: readonly MigrationFile[], applied: readonly Migration[]): void {
  for (const [index, done] of applied.entries()) {
    const file = files[index];
    if (!file || done.version < file.version) {
      throw new Error(
        `The database is newer than this release: it has migration ${done.name}, this release ${file ? 'does not' : `ends at ${files.at(-1)?.name ?? 'none'}`}. Start the release that the database was migrated by, or a later one.`,
      );
    }
    if (done.version > file.version) {
      throw new Error(
        `The database lacks migration ${file.name}, but has a later one (${done.name}). Restore it from a backup, or start the release that it was migrated by.`,
      );
    }
    if (done.checksum !== file.checksum) throw changed(file.name);
  }
}

const changed = (name: string): Error =>
  new Error(
    `Migration ${name} was changed after it had been applied. Put the file back as it was released and make the change in a new migration.`,
  );

async function applyNext(client: Client, migrations: Migrations): Promise<string[]> {
  await client.query(journalTable);
  const next = planMigrations(migrations, await readJournal(client));
  for (const file of next) await apply(client, file);
  return next.map(({ name }) => name);
}

async function apply(client: Client, { version, name, checksum, sql }: MigrationFile): Promise<void> {
  await client.query(sql).catch((error: unknown) => {
    if (error instanceof Error) error.message = `Migration ${name}: ${error.message}`;
    throw error;
  });
  await client.query(
    `INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)
     ON CONFLICT (version) DO UPDATE SET checksum = excluded.checksum, applied_at = now()`,
    [version, name, checksum],
  );
}

async function readJournal(client: Client): Promise<Migration[]> {
  const journal = await client.query<Migration>(
    'SELECT version, name, checksum FROM migrations ORDER BY version',
  );
  return journal.rows;
}

/** Reads the folder and refuses what could not be applied in the same way everywhere. */
export async function readMigrations(directory: string): Promise<Migrations> {
  const names = await sqlFilesIn(directory);
  const files = await Promise.all(names.map((name) => readMigration(directory, name)));
  for (const [index, { version, name }] of files.entries()) {
    const before = files[index - 1];
    if (before && version <= before.version) {
      throw new Error(`Two migrations have the number ${version}: ${before.name} and ${name}.`);
    }
  }
  return { files, replaced: await readReplaced(directory), functions: await readFunctions(directory) };
}

async function readMigration(directory: string, fileName: string): Promise<MigrationFile> {
  const found = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(fileName);
  if (!found || found[1] === '0000') throw new Error(`The migration ${fileName} is not named NNNN-name.sql.`);
  const sql = await readText(join(directory, fileName));
  if (!/^-- (compatible|breaking): \S/.test(sql)) {
    throw new Error(
      `Line 1 of ${fileName} must be "-- compatible: …" or "-- breaking: …": whether running older nodes survive it.`,
    );
  }
  return { version: Number(found[1]), name: fileName.slice(0, -'.sql'.length), sql, checksum: hashOf(sql) };
}

async function readReplaced(directory: string): Promise<Migration[]> {
  const text = await readText(join(directory, 'replaced.json')).catch(unlessAbsent('[]'));
  const replaced = JSON.parse(text) as { name: string; checksum: string }[];
  return replaced.map(({ name, checksum }) => ({ version: Number(name.slice(0, 4)), name, checksum }));
}

/** All files as one: a function may use those of another room. */
async function readFunctions(directory: string): Promise<MigrationFile | undefined> {
  const folder = join(directory, 'functions');
  const names = await sqlFilesIn(folder).catch(unlessAbsent<string[]>([]));
  if (names.length === 0) return undefined;
  const sql = (await Promise.all(names.map((name) => readText(join(folder, name))))).join('\n');
  return { version: functionsVersion, name: 'functions', sql, checksum: hashOf(sql) };
}

const sqlFilesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();

/** A checkout with Windows line ends is the same migration. */
const readText = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8')).replaceAll('\r\n', '\n');

const hashOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

const unlessAbsent =
  <Value>(value: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (error.code !== 'ENOENT') throw error;
    return value;
  };
