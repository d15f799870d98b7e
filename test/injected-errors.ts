import { inject } from 'vitest';
import { openDatabase, type Database } from '../src/kit/db/database.ts';

/** Errors that the server itself raises for a table, as real ones reach the client. */
export interface InjectedErrors {
  /** Every statement that updates or deletes rows of the table fails with this SQLSTATE, until `null`. */
  raise(sqlState: string | null): Promise<void>;
}

export async function injectErrors(database: Database, table: string): Promise<InjectedErrors> {
  await database.raw(`CREATE TABLE IF NOT EXISTS injected_${table} (sql_state text NOT NULL)`);
  await database.raw(`CREATE OR REPLACE FUNCTION inject_into_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE found text;
    BEGIN
      SELECT sql_state INTO found FROM injected_${table};
      IF found IS NOT NULL THEN RAISE EXCEPTION 'injected %', found USING ERRCODE = found; END IF;
      RETURN NULL;
    END $$`);
  await database.raw(`CREATE TRIGGER inject BEFORE UPDATE OR DELETE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION inject_into_${table}()`);
  return {
    async raise(sqlState) {
      await database.raw(`DELETE FROM injected_${table}`);
      if (sqlState !== null) await database.raw(`INSERT INTO injected_${table} VALUES ($1)`, [sqlState]);
    },
  };
}

/** Lets the database take no changes, as a server does that became a replica, and ends the connections that knew it otherwise. */
export function makeReadOnly(url: string): Promise<void> {
  return alter(url, 'SET default_transaction_read_only = on');
}

export function makeWritable(url: string): Promise<void> {
  return alter(url, 'RESET default_transaction_read_only');
}

async function alter(url: string, change: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const admin = openDatabase({
    url: inject('testServer').url,
    poolSize: 1,
    applicationName: 'svc test admin',
  });
  try {
    await admin.raw(`ALTER DATABASE ${name} ${change}`);
    await admin.raw('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  } finally {
    await admin.close();
  }
}
