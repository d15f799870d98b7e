import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { connectionSettings, sqlState, type Database } from './database.ts';

export interface MigrateOptions {
  /** The folder of the `NNNN-name.sql` files. */
  directory: string;
}

interface MigrationFile {
  version: number;
  name: string;
  sql: string;
  checksum: string;
}

interface AppliedMigration {
  version: number;
  name: string;
  checksum: string;
}

/** 'svc' and 1: the one lock for everything that changes the schema. Transaction-level, so that a pooler does not break it. */
const schemaLock = [0x73_76_63, 1] as const;
/** A migration that waits longer than this for a table would make the running nodes queue up behind it. */
const patiently = { lockTimeoutMs: 3_000, attempts: 20 };
/** For work that may wait an hour. */
const briefly = { lockTimeoutMs: 100, attempts: 5 };

/** Months of history partitions made ahead, so that a lock which is held for days delays nothing. */
const monthsAhead = 3;
/** Default partitions of up to so many bytes are emptied at once. */
const mostToMove = 10_000_000;

const journalTable = `CREATE TABLE IF NOT EXISTS migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Applies the migrations that are missing, each in a transaction of its own, and returns the names of those it applied.
 * Throws when the files and the database do not belong together; nothing is changed then.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<{ applied: string[] }> {
  const files = await readMigrations(options.directory);
  return withClient(database.directUrl, async (client) => {
    const applied: string[] = [];
    for (;;) {
      const name = await underSchemaLock(client, () => applyNext(client, files));
      if (name === undefined) return { applied };
      applied.push(name);
    }
  });
}

const retireDefaults = 'SELECT svc_retire_defaults($1)';
const ensureMonth = `SELECT svc_ensure_partitions(
  (date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => $1)) AT TIME ZONE 'UTC')`;

/**
 * Makes the history partitions of this month and the next three; those that exist stay. Takes the default partitions of an
 * older release away. Takes no lock that is not free at once, does the rest, and throws the first fault.
 */
export async function ensurePartitions(database: Database): Promise<void> {
  const steps = [
    [retireDefaults, mostToMove] as const,
    ...Array.from({ length: monthsAhead + 1 }, (_, month) => [ensureMonth, month] as const),
  ];
  const faults: unknown[] = [];
  await withClient(database.directUrl, async (client) => {
    for (const [text, value] of steps) {
      const step = underSchemaLock(client, () => client.query(text, [value]), briefly);
      await step.catch((error: unknown) => faults.push(error));
    }
  });
  if (faults.length > 0) throw faults[0];
}

/** The migrations to run, in order; throws when what was applied is not the beginning of what the code has. */
function planMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): MigrationFile[] {
  for (const [index, done] of applied.entries()) {
    const file = files[index];
    if (!file) {
      throw new Error(
        `The database is newer than this release: it has migration ${done.name}, this release ends at ${files.at(-1)?.name ?? 'none'}. Start the release that the database was migrated by, or a later one.`,
      );
    }
    if (done.version !== file.version) {
      throw new Error(
        `The database lacks migration ${file.name}, but has a later one (${done.name}). Restore it from a backup, or start the release that it was migrated by.`,
      );
    }
    if (done.checksum !== file.checksum) {
      throw new Error(
        `Migration ${file.name} was changed after it had been applied. Put the file back as it was released and make the change in a new migration.`,
      );
    }
  }
  return files.slice(applied.length);
}

async function applyNext(client: Client, files: readonly MigrationFile[]): Promise<string | undefined> {
  await client.query(journalTable);
  const next = planMigrations(files, await readJournal(client))[0];
  if (!next) return undefined;
  await client.query(next.sql).catch((error: unknown) => {
    if (error instanceof Error) error.message = `Migration ${next.name}: ${error.message}`;
    throw error;
  });
  await client.query('INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)', [
    next.version,
    next.name,
    next.checksum,
  ]);
  return next.name;
}

async function readJournal(client: Client): Promise<AppliedMigration[]> {
  const journal = await client.query<AppliedMigration>(
    'SELECT version, name, checksum FROM migrations ORDER BY version',
  );
  return journal.rows;
}

/** Reads the folder and refuses what could not be applied in the same way everywhere. */
export async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (fileName, index) => {
      const found = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(fileName);
      if (!found) throw new Error(`The migration ${fileName} is not named NNNN-name.sql.`);
      const version = Number(found[1]);
      if (names[index - 1]?.startsWith(fileName.slice(0, 4)))
        throw new Error(`Two migrations have one number: ${names[index - 1]} and ${fileName}.`);
      // A checkout with Windows line ends is the same migration.
      const sql = (await readFile(join(directory, fileName), 'utf8')).replaceAll('\r\n', '\n');
      if (!/^-- (compatible|breaking): \S/.test(sql)) {
        throw new Error(
          `Line 1 of ${fileName} must be "-- compatible: …" or "-- breaking: …": whether running older nodes survive it.`,
        );
      }
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { version, name: fileName.slice(0, -'.sql'.length), sql, checksum };
    }),
  );
}

async function underSchemaLock<T>(
  client: Client,
  work: () => Promise<T>,
  { lockTimeoutMs, attempts } = patiently,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('BEGIN');
      // Overrides the role's limit for statements: a migration may take long.
      await client.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...schemaLock]);
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      // 55P03 = lock_not_available: let the nodes that hold it go first, then try again.
      if (sqlState(error) !== '55P03' || attempt >= attempts) throw error;
      await sleep(200 + Math.random() * 300);
    }
  }
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    ...connectionSettings(url),
    application_name: 'svc migrate',
    connectionTimeoutMillis: 5_000,
  });
  // The statement in flight fails with the same error; without a listener the process would end.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
