import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { inject } from 'vitest';
import { openDatabase, type Database } from '../src/kit/db/database.ts';
import { originOf, sqlState } from '../src/kit/db/faults.ts';

const insufficientPrivilege = '42501';

/** A migrated database of its own for one test or one file. */
export interface TestDatabase {
  url: string;
  database: Database;
  /** Closes the pool and drops the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** Clones the run's migrated template. `poolSize` is that of `database`; other pools can be opened by `url`. */
export async function createTestDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  return createFrom(inject('testServer').template, options.poolSize);
}

/** A database without tables, to test what makes them. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createFrom('template0');
}

async function createFrom(template: string, poolSize = 10): Promise<TestDatabase> {
  const server = inject('testServer');
  // The global teardown finds databases of dead workers by this prefix.
  const name = `${server.template}_${randomBytes(6).toString('hex')}`;
  await asAdmin(server.url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY wal_log`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.href, poolSize, applicationName: 'svc test' });
  return {
    url: url.href,
    database,
    drop: async () => {
      await database.close();
      await dropDatabase(server.url, name);
    },
  };
}

/** An autovacuum may run in it, which only a superuser may end. It is short. */
async function dropDatabase(url: string, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await asAdmin(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    } catch (error) {
      if (sqlState(originOf(error)) !== insufficientPrivilege || tries === 300) throw error;
      await wait(100);
    }
  }
}

async function asAdmin(url: string, text: string): Promise<void> {
  const admin = openDatabase({ url, poolSize: 1, applicationName: 'svc test admin' });
  try {
    await admin.raw(text);
  } finally {
    await admin.close();
  }
}
