import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../src/kit/db/database.ts';
import { startEmbedded } from '../src/kit/db/embedded/index.ts';
import { isAlive } from '../src/kit/db/embedded/postmaster.ts';
import { migrateDatabase } from '../src/app.ts';
import { createLog } from '../src/kit/log.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this run, and the migrated database to clone. */
    testServer: { url: string; template: string };
    /** Where the command line is built when a test needs it: below `node_modules`, so that it finds its dependencies. */
    testRun: { builtSvc: string };
  }
}

const migrations = join(import.meta.dirname, '../migrations');
const folderPrefix = 'svc-test-';
const builds = join(import.meta.dirname, '../node_modules/.cache');

/** One server for the whole run (`DATABASE_URL`, or an embedded one in the temp folder) with a database to clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeBuilds(async (run) => run === process.pid || !(await isAlive(run)));
  const server = await openServer();
  const template = `svc_test_${await hashOfMigrations()}_${randomBytes(4).toString('hex')}`;
  const admin = openDatabase({ url: server.url, poolSize: 1, applicationName: 'svc test setup' });
  await admin.raw(`CREATE DATABASE ${template}`);
  await migrateDatabase(urlOfDatabase(server.url, template), createLog('warn'));
  project.provide('testServer', { url: server.url, template });
  project.provide('testRun', { builtSvc: join(builds, `svc-cli-${process.pid}`) });
  return async () => {
    // Clones carry the template's name; those of workers that died are dropped here.
    const left = await admin.raw(`SELECT datname FROM pg_database WHERE starts_with(datname, $1)`, [
      template,
    ]);
    for (const { datname } of left)
      await admin.raw(`DROP DATABASE IF EXISTS ${String(datname)} WITH (FORCE)`);
    await admin.close();
    await server.stop();
    await removeBuilds((run) => run === process.pid);
  };
}

async function openServer(): Promise<{ url: string; stop(): Promise<void> }> {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, stop: async () => undefined };
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), `${folderPrefix}${process.pid}-`));
  const server = await startEmbedded({ dataDir });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Removes what runs built that are over. */
async function removeBuilds(isOver: (run: number) => boolean | Promise<boolean>): Promise<void> {
  for (const name of await readdir(builds).catch(() => [])) {
    const run = /^svc-cli-(\d+)/.exec(name)?.[1];
    if (run !== undefined && (await isOver(Number(run))))
      await rm(join(builds, name), { recursive: true, force: true });
  }
}

/** A run that was killed leaves its server behind: the folder names the process that is gone. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = /^svc-test-(\d+)-/.exec(name)?.[1];
    if (!owner || (await isAlive(Number(owner)))) continue;
    const dataDir = join(tmpdir(), name);
    // Adopting it is the way to stop it in order; one that cannot be adopted is gone already, or not ours to stop.
    if (await stat(join(dataDir, 'data/postmaster.pid')).catch(() => undefined)) {
      await startEmbedded({ dataDir }).then(
        (server) => server.stop(),
        () => undefined,
      );
    }
    await rm(dataDir, { recursive: true, force: true }).catch(() => undefined);
  }
}

function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function hashOfMigrations(): Promise<string> {
  const hash = createHash('sha256');
  const names = await readdir(migrations, { recursive: true });
  for (const name of names.filter((each) => each.endsWith('.sql')).sort())
    hash.update(await readFile(join(migrations, name)));
  return hash.digest('hex').slice(0, 8);
}
