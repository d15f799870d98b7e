import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Database } from './database.ts';
import { sqlState } from './faults.ts';
import { isSchemaFree, patiently, underSchemaLock, withSchemaClient } from './schema-lock.ts';

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
interface Applied extends Migration {
  /** Its line 1 said that older nodes survive it. */
  compatible: boolean;
}
export interface MigrationFile extends Applied {
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
  applied_at timestamptz NOT NULL DEFAULT now(),
  compatible boolean NOT NULL DEFAULT false
)`;
/** Journals of before have no such column. */
const journalColumn =
  'ALTER TABLE migrations ADD COLUMN IF NOT EXISTS compatible boolean NOT NULL DEFAULT false';
const journalRows = `SELECT version, name, checksum, coalesce((to_jsonb(m)->>'compatible')::boolean, false) AS compatible
  FROM migrations m ORDER BY version`;

/**
 * Applies the migrations that are missing, each in a transaction of its own, the functions with the last of them or when they are not
 * those that were applied last, and returns the names of what it applied. A migration that makes a table anew takes its triggers away:
 * with the functions in its transaction nobody sees the table without them.
 * A database of a later release is left as it is when that release's migrations leave older nodes working; `later` names them.
 * Throws when the files and the database do not belong together; nothing
 * is changed then.
 */
export async function migrate(
  database: Database,
  options: MigrateOptions,
): Promise<{ applied: string[]; later: string[] }> {
  const migrations = await readMigrations(options.directory);
  return withSchemaClient(database.directUrl, async (client) => {
    // Without the lock: a start that has nothing to apply waits for no other start. It waits for a migration that is under way, which
    // may be of a later release.
    const isFree = await isSchemaFree(client);
    const found = compare(migrations, await findJournal(client));
    if (isFree && found.missing.length === 0) return { applied: [], later: found.later };
    const applied: string[] = [];
    for (;;) {
      const { names, later } = await underSchemaLock(client, patiently, () =>
        applyNext(client, migrations),
      ).catch(async (error: unknown) => {
        throw (await withoutSchema(client, error)) ?? error;
      });
      if (names.length === 0) return { applied, later };
      applied.push(...names);
    }
  });
}

/** Whether migrations were ever applied in the database. Changes nothing. */
export function isMigrated(url: string): Promise<boolean> {
  return withSchemaClient(url, hasJournal);
}

/** What a start of this release would apply, and what was applied last. Changes nothing; throws as {@link migrate} does. */
export async function missingMigrations(
  client: Client,
  { directory }: MigrateOptions,
): Promise<{ at: string | undefined; missing: MigrationFile[] }> {
  const migrations = await readMigrations(directory);
  const journal = await findJournal(client);
  const at = journal.findLast(({ version }) => version > functionsVersion)?.name;
  return { at, missing: compare(migrations, journal).missing };
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

/** What is to be run together next. */
function nextOf(missing: readonly MigrationFile[]): readonly MigrationFile[] {
  const [first, second] = missing;
  return first && second && second.version > functionsVersion ? [first] : missing;
}

interface Comparison {
  /** All that is to be run, in order, the functions last. */
  missing: MigrationFile[];
  /** What a later release applied, beside which this one works. */
  later: string[];
}

/** Throws when neither is the beginning of the other, or when this release does not survive what a later one applied. */
function compare({ files, replaced, functions }: Migrations, journal: readonly Applied[]): Comparison {
  const numbered = journal.filter(({ version }) => version > functionsVersion);
  const isOlder = replaced.length > 0 && numbered[0]?.checksum === replaced[0]?.checksum;
  if (isOlder) checkReplaced(replaced, numbered);
  const begin = isOlder ? (replaced.at(-1)?.version ?? 0) : 0;
  const known = files.filter(({ version }) => version > begin);
  const applied = numbered.filter(({ version }) => version > begin);
  const later = applied.slice(known.length);
  const isLater = later.length > 0 && later.every(({ compatible }) => compatible);
  checkApplied(known, isLater ? applied.slice(0, known.length) : applied);
  // The functions of the later release serve its nodes.
  if (isLater) return { missing: [], later: later.map(({ name }) => name) };
  const last = journal.find(({ version }) => version === functionsVersion);
  const numberedLeft = known.slice(applied.length);
  const isChanged = functions?.checksum !== last?.checksum;
  const runsFunctions = functions && (numberedLeft.length > 0 || isChanged);
  return { missing: [...numberedLeft, ...(runsFunctions ? [functions] : [])], later: [] };
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
        `The database is newer than this release: it has migration ${done.name}, this release ${file ? 'does not' : `ends at ${files.at(-1)?.name ?? 'none'}`}, and older nodes do not survive what came since. Start the release that the database was migrated by, or a later one.`,
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

async function applyNext(
  client: Client,
  migrations: Migrations,
): Promise<{ names: string[]; later: string[] }> {
  await client.query(journalTable);
  const { missing, later } = compare(migrations, await readJournal(client));
  const next = nextOf(missing);
  if (next.length > 0) await client.query(journalColumn);
  for (const file of next) await apply(client, file);
  return { names: next.map(({ name }) => name), later };
}

async function apply(client: Client, file: MigrationFile): Promise<void> {
  const { version, name, checksum, compatible, sql } = file;
  await client.query(sql).catch((error: unknown) => {
    if (error instanceof Error) error.message = `Migration ${name}: ${error.message}`;
    throw error;
  });
  await client.query(
    `INSERT INTO migrations (version, name, checksum, compatible) VALUES ($1, $2, $3, $4)
     ON CONFLICT (version) DO UPDATE SET checksum = excluded.checksum, applied_at = now()`,
    [version, name, checksum, compatible],
  );
}

async function hasJournal(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS found",
  );
  return rows[0]?.found ?? false;
}

/** That of a database in which nothing was applied is empty. */
async function findJournal(client: Client): Promise<Applied[]> {
  return (await hasJournal(client)) ? readJournal(client) : [];
}

async function readJournal(client: Client): Promise<Applied[]> {
  return (await client.query<Applied>(journalRows)).rows;
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
  const [, kind] = /^-- (compatible|breaking): \S/.exec(sql) ?? [];
  if (kind === undefined) {
    throw new Error(
      `Line 1 of ${fileName} must be "-- compatible: …" or "-- breaking: …": whether running older nodes survive it.`,
    );
  }
  const name = fileName.slice(0, -'.sql'.length);
  return {
    version: Number(found[1]),
    name,
    sql,
    checksum: hashOf(sql),
    compatible: kind === 'compatible',
  };
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
  return { version: functionsVersion, name: 'functions', sql, checksum: hashOf(sql), compatible: true };
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
