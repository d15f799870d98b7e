import { spawn, type ChildProcess } from 'node:child_process';
import { constants, open, readFile, realpath, rename, stat, type FileHandle } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { isDatabaseAway, sqlState } from '../faults.ts';
import type { Account } from './binaries.ts';
import { roleName, runTool, tool, type Cluster } from './cluster.ts';
import { makeSocketFolder } from './place.ts';
import { isRunning, readPostmaster, removeStalePidFile, signal, type Postmaster } from './postmaster.ts';

/** A server that answers, and the connection that found out. */
export interface RunningServer {
  client: Client;
  pid: number;
  url: string;
  /** True when it was already running: a process that died left it behind. */
  adopted: boolean;
}

/** Another process's leftovers (a zombie, children that are still ending) block a start for so long at the most. */
const obstructedMs = 20_000;
/** Replaying the log after a crash. */
const recoveryMs = 10 * 60_000;
const pollMs = 15;
const maxLogBytes = 10 * 1024 * 1024;

/** Connects to the cluster's server, and starts it when none runs. */
export async function openServer(cluster: Cluster, log: (line: string) => void): Promise<RunningServer> {
  const giveUpAt = Date.now() + obstructedMs;
  for (;;) {
    const found = await adopt(cluster);
    if (found) return found;
    const refusal = await launch(cluster);
    if (typeof refusal !== 'string') return refusal;
    if (!/lock file|shared memory block|Address already in use/i.test(refusal) || Date.now() > giveUpAt) {
      throw new Error(`The embedded PostgreSQL in ${cluster.home} does not start: ${refusal}`);
    }
    if (await removeStalePidFile(cluster))
      log('embedded PostgreSQL: removed the stale postmaster.pid of a server that is gone');
    await sleep(100);
  }
}

/** The server named by postmaster.pid, once it answers; undefined when nothing answers there. */
async function adopt(cluster: Cluster): Promise<RunningServer | undefined> {
  const giveUpAt = Date.now() + recoveryMs;
  while (Date.now() < giveUpAt) {
    const postmaster = await readPostmaster(cluster);
    if (!postmaster) return undefined;
    const answer = await tryConnect(cluster, postmaster);
    if (answer instanceof Client) return verified(cluster, postmaster, answer);
    // A state such as 57P03: it is there, but starting, recovering, stopping or full.
    if (answer === '') return undefined;
    await sleep(pollMs);
  }
  return undefined;
}

async function verified(cluster: Cluster, postmaster: Postmaster, client: Client): Promise<RunningServer> {
  const shown = await client.query<{ data_directory: string }>('SHOW data_directory');
  const directory = shown.rows[0]?.data_directory ?? '';
  if ((await realpath(directory).catch(() => directory)) !== (await realpath(cluster.data))) {
    await client.end();
    throw new Error(
      `The server that answers for ${cluster.data} keeps its data in ${directory}. Stop it, then start again.`,
    );
  }
  return { client, pid: postmaster.pid, url: urlOf(cluster, postmaster), adopted: true };
}

/** Starts the server and waits until it answers. Returns what it printed when it ended instead. */
async function launch(cluster: Cluster): Promise<RunningServer | string> {
  const tcp = process.platform === 'win32';
  const host = tcp ? '127.0.0.1' : await makeSocketFolder(cluster);
  const port = tcp ? await freePort() : 5432;
  const logFile = join(cluster.home, 'server.log');
  const logStart = await rotate(logFile);
  const output = await openLog(logFile, cluster.account);
  const settings = {
    listen_addresses: tcp ? host : '',
    unix_socket_directories: tcp ? '' : host,
    unix_socket_permissions: '0700',
    port: String(port),
    fsync: 'on',
    shared_buffers: '128MB',
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // Statements and key values may be personal data.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  };
  // Detached: a Ctrl-C in the terminal must not stop the database before the process has drained.
  const child = spawn(
    tool(cluster, 'postgres'),
    ['-D', cluster.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      cwd: cluster.home,
      env: cluster.env,
      ...cluster.account,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output.fd, output.fd],
    },
  );
  child.unref();
  const ended = endOf(child);
  try {
    const giveUpAt = Date.now() + recoveryMs;
    while (Date.now() < giveUpAt) {
      const postmaster = { pid: child.pid ?? 0, host, port };
      const answer = await tryConnect(cluster, postmaster);
      // A race: the one that answers may be another process's, in which case ours is about to end.
      if (answer instanceof Client && (await readPostmaster(cluster))?.pid === child.pid) {
        return { client: answer, pid: postmaster.pid, url: urlOf(cluster, postmaster), adopted: false };
      }
      if (answer instanceof Client) await answer.end();
      const end = await Promise.race([ended, sleep(pollMs)]);
      if (end) return (await tail(logFile, logStart)) || end;
    }
    throw new Error(
      `The embedded PostgreSQL in ${cluster.home} did not answer within ${recoveryMs / 1000} s; see ${logFile}.`,
    );
  } finally {
    await output.close();
  }
}

/** Stops the server (fast shutdown: transactions are rolled back, the data is checkpointed) and waits until it is gone. */
export async function stopServer(cluster: Cluster, pid: number): Promise<void> {
  if (process.platform === 'win32')
    return runTool(cluster, 'pg_ctl', ['stop', '-D', cluster.data, '-m', 'fast', '-w']);
  signal(pid, 'SIGINT');
  // A checkpoint of a full cache on a slow disk takes a while; after that, recovery at the next start does the rest.
  const quitAt = Date.now() + 60_000;
  for (let hurried = false; await isRunning(cluster, pid); await sleep(pollMs)) {
    if (hurried || Date.now() < quitAt) continue;
    hurried = true;
    signal(pid, 'SIGQUIT');
  }
}

/** A connected client, or the SQLSTATE of the refusal, or '' when nobody answers. */
async function tryConnect(cluster: Cluster, { host, port }: Postmaster): Promise<Client | string> {
  const client = new Client({
    host,
    port,
    user: roleName,
    password: cluster.password,
    database: roleName,
    ssl: false,
    application_name: `svc owner, process ${process.pid}`,
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return sqlState(error) ?? '';
  }
}

/** `localhost` stands for the socket's folder, which both `pg` and libpq take from the parameter `host`. */
function urlOf(cluster: Cluster, { host, port }: Postmaster): string {
  const at = host.startsWith('/')
    ? `localhost:${port}/${roleName}?host=${encodeURIComponent(host)}`
    : `${host}:${port}/${roleName}`;
  return `postgresql://${roleName}:${cluster.password}@${at}`;
}

/** Resolves with one line when the process has ended. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signalName) => resolve(`it ended with ${signalName ?? `code ${code}`}`));
  });
}

/** Keeps the server's log below twice its bound; returns where this start's lines begin. */
async function rotate(logFile: string): Promise<number> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size < maxLogBytes) return size;
  await rename(logFile, `${logFile}.1`);
  return 0;
}

/** Root opens a file in a folder of the other user here: never through a link. */
async function openLog(logFile: string, account: Account | undefined): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const output = await open(logFile, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  if (account) await output.chown(account.uid, account.gid);
  return output;
}

async function tail(logFile: string, from: number): Promise<string> {
  const text = (await readFile(logFile)).subarray(from).toString('utf8');
  return text.trim().slice(-1_000);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no free port')),
      );
    });
  });
}
