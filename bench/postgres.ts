import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { openDatabase, type Database } from '../src/kit/db/database.ts';
import { startEmbedded } from '../src/kit/db/embedded/index.ts';
import { migrateDatabase } from '../src/app.ts';
import { createLog } from '../src/kit/log.ts';
import { newId } from '../src/kit/ids.ts';
import { atEnd } from './at-end.ts';

/** A database of its own on the server that DATABASE_URL names, else on an embedded one; gone when it is closed. */
export async function makeDatabase(): Promise<{ url: string; close(): Promise<void> }> {
  const external = process.env['DATABASE_URL'];
  const dataDir = external ? undefined : await mkdtemp(join(tmpdir(), 'svc-bench-pg-'));
  const embedded = dataDir ? await startEmbedded({ dataDir }) : undefined;
  const server = external ?? embedded?.url ?? '';
  const name = `svc_bench_${newId().replaceAll('-', '')}`;
  const close = atEnd(async () => {
    if (external) await dropDatabase(server, name);
    await embedded?.stop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });
  await admin(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, close };
}

/** A bare pool for yardsticks. The end of the database cuts what it left open, which is no fault then. */
export function openPool(url: string, max: number): Pool {
  const pool = new Pool({ connectionString: url, max });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The same with the product's tables, and a pool on it for what runs without the product's process. */
export async function makeLedger(
  poolSize: number,
): Promise<{ database: Database; close: () => Promise<void> }> {
  const made = await makeDatabase();
  const database = openDatabase({ url: made.url, poolSize, applicationName: 'svc bench' });
  await migrateDatabase(made.url, createLog('warn'));
  return {
    database,
    close: async () => {
      await database.close();
      await made.close();
    },
  };
}

/** By force only the superuser may end an autovacuum; without it the server ends that by itself. */
async function dropDatabase(server: string, name: string): Promise<void> {
  await admin(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch(() =>
    admin(server, `DROP DATABASE IF EXISTS ${name}`),
  );
}

async function admin(url: string, text: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc bench admin' });
  await database.raw(text);
  await database.close();
}
