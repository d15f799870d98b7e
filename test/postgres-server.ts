import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { appendFile, chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from '../src/kit/db/database.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** Where a whole PostgreSQL is, with the tools for backups; undefined where only a bare server is. */
export function findPostgres(): string | undefined {
  const [newest] = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').toSorted().toReversed();
  return newest === undefined ? undefined : join(newest, '..');
}

/** The server refuses to run as root. */
const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A server of its own that archives its log, so that it can be restored or followed. */
export interface PostgresServer {
  url: string;
  port: number;
  /** Runs SQL, and answers the rows. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Ends it at once, as a lost machine would. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

const database = 'svc';

/** A new server, empty but for one database. */
export async function createPostgres(bin: string, settings: readonly string[] = []): Promise<PostgresServer> {
  const home = await newHome();
  const data = join(home, 'data');
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    account,
  );
  const archive = join(home, 'archive');
  await appendFile(
    join(data, 'postgresql.conf'),
    `archive_mode = on\narchive_command = 'cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f'\nwal_level = replica\nhot_standby = on\n${settings.join('\n')}\n`,
  );
  const server = await serve(bin, home);
  await server.sql(`CREATE DATABASE ${database}`);
  return { ...server, url: server.url.replace(/\/postgres$/, `/${database}`) };
}

async function give(path: string): Promise<void> {
  const { uid, gid } = account;
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'svc-postgres-'));
  for (const folder of ['', 'archive', 'socket']) {
    await mkdir(join(home, folder), { recursive: true });
    await chmod(join(home, folder), 0o700);
    await give(join(home, folder));
  }
  return home;
}

async function serve(bin: string, home: string, name = 'postgres'): Promise<PostgresServer> {
  const port = await freePort();
  const url = `postgres://svc@127.0.0.1:${port}/${name}`;
  let running: ChildProcess | undefined;
  const args = [
    '-D',
    join(home, 'data'),
    '-p',
    String(port),
    '-c',
    `unix_socket_directories=${join(home, 'socket')}`,
  ];
  const sql = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = openDatabase({ url, poolSize: 1, applicationName: 'svc test' });
    try {
      return await client.raw(text);
    } finally {
      await client.close();
    }
  };
  const start = async (): Promise<void> => {
    let said = '';
    running = spawn(join(bin, 'postgres'), args, { ...account, stdio: ['ignore', 'ignore', 'pipe'] });
    running.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const giveUpAt = Date.now() + 60_000;
    for (;;) {
      if (
        await sql('SELECT 1').then(
          () => true,
          () => false,
        )
      )
        return;
      if (running.exitCode !== null || Date.now() > giveUpAt)
        throw new Error(`PostgreSQL did not start: ${said.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kill = async (): Promise<void> => {
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running?.once('exit', resolve));
    // An immediate shutdown: nothing is written any more.
    running.kill('SIGQUIT');
    await ended;
  };
  await start();
  return {
    url,
    port,
    sql,
    kill,
    start,
    remove: async () => {
      await kill();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A base backup of a running server. */
export async function backUp(
  bin: string,
  { port }: PostgresServer,
  data: string,
  ...more: string[]
): Promise<void> {
  const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'svc'];
  await run(
    join(bin, 'pg_basebackup'),
    [...from, '-D', data, '-c', 'fast', '-X', 'stream', ...more],
    account,
  );
}

/** A base backup that stands ready to be restored. */
export async function keepBackup(bin: string, server: PostgresServer): Promise<string> {
  const home = await newHome();
  await backUp(bin, server, join(home, 'data'));
  return home;
}

/** A server from a base backup and the archived log, at a restore point of that name. */
export async function restoreTo(
  bin: string,
  backup: string,
  { archive, point }: { archive: string; point: string },
): Promise<PostgresServer> {
  const data = join(backup, 'data');
  await appendFile(
    join(data, 'postgresql.conf'),
    `archive_mode = off\nrestore_command = 'cp ${archive}/%f %p'\nrecovery_target_name = '${point}'\nrecovery_target_action = 'promote'\n`,
  );
  await writeFile(join(data, 'recovery.signal'), '');
  await give(join(data, 'recovery.signal'));
  const server = await serve(bin, backup, database);
  await untilTaking(server);
  return server;
}

/** A replica that follows the server by streaming. */
export async function follow(bin: string, server: PostgresServer): Promise<PostgresServer> {
  const home = await newHome();
  await backUp(bin, server, join(home, 'data'), '-R');
  return serve(bin, home, database);
}

/** Makes the replica take changes. */
export async function promote(replica: PostgresServer): Promise<void> {
  await replica.sql('SELECT pg_promote(true, 60)');
  await untilTaking(replica);
}

async function untilTaking(server: PostgresServer): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  while ((await server.sql('SELECT pg_is_in_recovery() AS recovering'))[0]?.['recovering'] === true) {
    if (Date.now() > giveUpAt) throw new Error('the server is still in recovery');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until all of the log so far is in the archive, and answers with a copy of it. */
export async function archivedLog(server: PostgresServer): Promise<string> {
  const [row] = await server.sql(
    `SELECT current_setting('data_directory') AS data, pg_walfile_name(pg_switch_wal()) AS file`,
  );
  const archive = join(String(row?.['data']), '..', 'archive');
  const giveUpAt = Date.now() + 60_000;
  while (!(await readdir(archive)).includes(String(row?.['file']))) {
    if (Date.now() > giveUpAt) throw new Error('the log was not archived');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const copy = await newHome();
  await cp(archive, join(copy, 'archive'), { recursive: true });
  for (const file of ['', ...(await readdir(join(copy, 'archive')))]) await give(join(copy, 'archive', file));
  return join(copy, 'archive');
}
