import { spawn, type ChildProcess } from 'node:child_process';
import { access, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

/** PgBouncer in front of a server, lending its sessions by the transaction unless told. */
export interface Pooler {
  /** The URL of a database of the server by way of the pooler. */
  through(url: string): string;
  /** Takes all sessions that it has for the database but so many, until what it answers is called. */
  takeAll(url: string, left?: number): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

const poolSize = 10;
const places = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];

/** Where the program is; undefined where it is not installed. */
export async function findPgbouncer(): Promise<string | undefined> {
  for (const place of places) {
    const path = join(place, 'pgbouncer');
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/**
 * `prepared`: how many prepared statements it follows, for versions that do (1.21). `ignored`: start-up parameters that it does not
 * refuse.
 */
export async function startPgbouncer(
  program: string,
  serverUrl: string,
  {
    prepared,
    ignored,
    mode = 'transaction',
  }: {
    prepared?: number | undefined;
    ignored?: string | undefined;
    mode?: 'transaction' | 'session';
  } = {},
): Promise<Pooler> {
  const server = new URL(serverUrl);
  const host = server.searchParams.get('host') ?? server.hostname;
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'svc-pgbouncer-'));
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  const { username, password } = server;
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    settings,
    [
      '[databases]',
      `* = host=${host} port=${server.port || '5432'}`,
      '[pgbouncer]',
      `pool_mode = ${mode}`,
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 1000',
      // So that a test's database can be dropped.
      'server_idle_timeout = 5',
      // By default it tries a server that was away only after 15 seconds.
      'server_login_retry = 1',
      ...(ignored === undefined ? [] : [`ignore_startup_parameters = ${ignored}`]),
      ...(prepared === undefined ? [] : [`max_prepared_statements = ${prepared}`]),
    ].join('\n'),
  );
  // It refuses to be root, and the socket of an embedded server lets in the server's own user only.
  const owner = process.getuid?.() === 0 ? await ownerOf(host) : undefined;
  for (const path of owner ? [folder, users, settings] : [])
    await chown(path, owner?.uid ?? 0, owner?.gid ?? 0);
  const child = spawn(program, [settings], { stdio: ['ignore', 'pipe', 'pipe'], ...owner });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await untilListening(port, child, () => said);
  const through = (url: string): string => {
    const by = new URL(url);
    by.searchParams.delete('host');
    by.hostname = '127.0.0.1';
    by.port = String(port);
    return by.href;
  };
  return {
    through,
    async takeAll(url, left = 0) {
      const clients = Array.from(
        { length: poolSize - left },
        () => new Client({ connectionString: through(url) }),
      );
      for (const client of clients) {
        client.on('error', () => undefined);
        await client.connect();
        await client.query('BEGIN');
      }
      return async () => void (await Promise.all(clients.map((client) => client.end())));
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ownerOf(host: string): Promise<{ uid: number; gid: number }> {
  const nobody = { uid: 65_534, gid: 65_534 };
  if (!host.startsWith('/')) return nobody;
  const { uid, gid } = await stat(host);
  return uid === 0 ? nobody : { uid, gid };
}

async function untilListening(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${said()}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => (socket.destroy(), resolve(true)));
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`pgbouncer does not listen: ${said()}`);
}
