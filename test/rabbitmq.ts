import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from './certificate.ts';
import { freePort } from './free-port.ts';

/** A RabbitMQ of its own, with the users and virtual hosts of {@link BrokerUser}. */
export interface Broker {
  port: number;
  /** Speaks TLS with {@link certificate}. */
  tlsPort: number;
  stop(): Promise<void>;
}

export interface BrokerUser {
  name: string;
  password: string;
  /** Patterns of what it may change, write to and read. */
  permissions: { configure: string; write: string; read: string };
}

/** Debian's script of this name wants to be another user. */
const places = ['/usr/lib/rabbitmq/bin', ...(process.env['PATH'] ?? '').split(':'), '/usr/local/sbin'];
/** Erlang's server of names: a broker that finds none starts one, and leaves it behind. */
const nameServer = 'epmd';
const startMs = 120_000;

/** Where the program is; undefined where it is not installed. */
export async function findRabbitmq(): Promise<string | undefined> {
  for (const place of places) {
    const path = join(place, 'rabbitmq-server');
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

export async function startRabbitmq(
  program: string,
  { vhost, users }: { vhost: string; users: readonly BrokerUser[] },
): Promise<Broker> {
  const [port, tlsPort, ownPort, namesPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const folder = await mkdtemp(join(tmpdir(), 'svc-rabbitmq-'));
  await settle(folder, { port, tlsPort, vhost, users });
  const names = spawn(nameServer, ['-port', String(namesPort), '-address', '127.0.0.1'], { stdio: 'ignore' });
  const child = spawn(program, {
    stdio: 'ignore',
    cwd: folder,
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      RABBITMQ_NODENAME: `svc${port}@localhost`,
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_PID_FILE: join(folder, 'pid'),
      RABBITMQ_DIST_PORT: String(ownPort),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+sbwt none',
      ERL_EPMD_PORT: String(namesPort),
      ERL_EPMD_ADDRESS: '127.0.0.1',
    },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    // The script waits for the broker that it started.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
    names.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  for (const until = Date.now() + startMs; !(await listens(tlsPort));) {
    if (child.exitCode === null && Date.now() < until) continue;
    await stop();
    throw new Error('RabbitMQ did not start');
  }
  return { port, tlsPort, stop };
}

async function settle(
  folder: string,
  {
    port,
    tlsPort,
    vhost,
    users,
  }: { port: number; tlsPort: number; vhost: string; users: readonly BrokerUser[] },
): Promise<void> {
  const definitions = {
    vhosts: [{ name: vhost }],
    users: users.map(({ name, password }) => ({
      name,
      password_hash: hashOf(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: '',
    })),
    permissions: users.map(({ name, permissions }) => ({ user: name, vhost, ...permissions })),
  };
  const settings = [
    `listeners.tcp.1 = 127.0.0.1:${port}`,
    `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
    `listeners.ssl.2 = 127.0.0.2:${tlsPort}`,
    `ssl_options.certfile = ${join(folder, 'cert.pem')}`,
    `ssl_options.keyfile = ${join(folder, 'key.pem')}`,
    'ssl_options.verify = verify_none',
    'loopback_users = none',
    `load_definitions = ${join(folder, 'definitions.json')}`,
  ];
  await Promise.all([
    writeFile(join(folder, 'definitions.json'), JSON.stringify(definitions)),
    writeFile(join(folder, 'rabbitmq.conf'), settings.join('\n')),
    writeFile(join(folder, 'plugins'), '[].'),
    writeFile(join(folder, 'cert.pem'), certificate.cert),
    writeFile(join(folder, 'key.pem'), certificate.key),
  ]);
}

/** As RabbitMQ keeps passwords: four bytes of salt, and the hash of both. */
function hashOf(password: string): string {
  const salt = Buffer.from('svc!');
  return Buffer.concat([salt, createHash('sha256').update(salt).update(password).digest()]).toString(
    'base64',
  );
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (is: boolean) => (): void => {
      socket.destroy();
      setTimeout(() => resolve(is), is ? 0 : 200);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
  });
}
