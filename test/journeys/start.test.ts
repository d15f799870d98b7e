import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../database.ts';
import { startForwarder } from '../forwarder.ts';
import { freePort } from '../free-port.ts';
import { findPgbouncer, startPgbouncer } from '../pgbouncer.ts';

const masterKey = (fill: number): string => `k1:${Buffer.alloc(32, fill).toString('base64')}`;

interface Started {
  child: ChildProcess;
  base: string;
  said: () => string;
  printed: () => string;
  ended: Promise<number | null>;
}

const pgbouncer = await findPgbouncer();

describe('test/journeys/start', () => {
  let folder: string;
  const started: ChildProcess[] = [];
  const databases: TestDatabase[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-start-'));
  });
  afterEach(async () => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
    for (const database of databases.splice(0)) await database.drop();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const empty = async (): Promise<TestDatabase> => {
    const database = await createEmptyDatabase();
    databases.push(database);
    return database;
  };

  /** The process as a service manager starts it: without a terminal, with nothing but these variables. */
  async function start(
    given: Record<string, string>,
    args: string[] = ['server'],
    command = [process.execPath, 'scripts/svc.mjs'],
    output: 'pipe' | number = 'pipe',
  ): Promise<Started> {
    const port = await freePort();
    const [file = '', ...before] = command;
    const child = spawn(file, [...before, ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        SVC_DATA_DIR: join(folder, 'data'),
        SVC_PORT: String(port),
        SVC_PROXY_PORT: String(await freePort()),
        ...(given['DATABASE_URL'] === undefined ? {} : { SVC_ENCRYPTION_KEYS: masterKey(7) }),
        ...given,
      },
      stdio: ['ignore', output, output],
    });
    started.push(child);
    let said = '';
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    return {
      child,
      base: `http://127.0.0.1:${port}`,
      said: () => said + printed,
      printed: () => printed,
      ended,
    };
  }

  /** What runs with this folder on its command line. */
  async function serversOf(dataDir: string): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return lines.filter((line) => line.includes(dataDir) && line.includes('postgres'));
  }

  const ready = ({ base, said }: Started) =>
    expect
      .poll(async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.status ?? said(), {
        timeout: 60_000,
      })
      .toBe(200);
  const projectsBy = async ({ base }: Started, headers: Record<string, string>): Promise<number> =>
    (await fetch(`${base}/v1/projects`, { headers })).status;

  it('a first start without a terminal leaves its key in a file, in a folder that it makes', async () => {
    const { url: DATABASE_URL } = await empty();
    const SVC_DATA_DIR = join(folder, 'not', 'yet', 'there');
    const node = await start({ DATABASE_URL, SVC_DATA_DIR });
    await ready(node);
    const path = join(SVC_DATA_DIR, 'first-api-key');
    const key = (await readFile(path, 'utf8')).trim();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(node.said()).toContain(path);
    expect(node.said()).not.toContain(key);
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);
  }, 90_000);

  it.each(['json', 'text'])(
    'serves on, and stops, when its log (%s) can be written nowhere',
    async (format) => {
      const { url: DATABASE_URL } = await empty();
      const full = await open('/dev/full', 'w');
      const apiKey = 'k'.repeat(40);
      const env = { DATABASE_URL, SVC_BOOTSTRAP_API_KEY: apiKey, SVC_LOG_FORMAT: format };
      const node = await start(env, ['server'], [process.execPath, 'scripts/svc.mjs'], full.fd);
      try {
        await ready(node);
        for (let n = 0; n < 40; n += 1) expect(await projectsBy(node, { 'x-api-key': apiKey })).toBe(200);
        const metrics = await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': apiKey } });
        expect(await metrics.text()).toMatch(/^svc_uncaught_errors_total 0$/m);
        node.child.kill('SIGTERM');
        expect(await node.ended).toBe(0);
      } finally {
        await full.close();
      }
    },
    90_000,
  );

  it('shows its metrics to who saw them before, however long the database is away', async () => {
    const database = await empty();
    const wire = await startForwarder(database.url);
    const apiKey = 'k'.repeat(40);
    const node = await start({ DATABASE_URL: wire.url, SVC_BOOTSTRAP_API_KEY: apiKey });
    const metricsBy = async (key: string): Promise<number> =>
      (await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': key } })).status;
    try {
      await ready(node);
      expect(await metricsBy(apiKey)).toBe(200);
      expect(await metricsBy('x'.repeat(40))).toBe(401);
      wire.cut('refuse');
      await expect
        .poll(() => projectsBy(node, { 'x-api-key': apiKey }), { timeout: 90_000, interval: 1_000 })
        .toBe(503);
      // What is known of keys is good for a minute.
      await new Promise((resolve) => setTimeout(resolve, 65_000));
      expect(await metricsBy(apiKey)).toBe(200);
      expect(await metricsBy('x'.repeat(40))).toBe(503);
    } finally {
      await wire.close();
    }
  }, 200_000);

  it('makes no other key beside a database that was sealed with one', async () => {
    const dataDir = join(folder, 'lost-keys');
    const path = join(dataDir, 'encryption-keys');
    const first = await start({ SVC_DATA_DIR: dataDir });
    await ready(first);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const keys = await readFile(path);
    await rm(path);
    const second = await start({ SVC_DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.said()).toContain(`${path} is missing, and the database was sealed with its key k1`);
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await writeFile(path, keys, { mode: 0o600 });
    await ready(await start({ SVC_DATA_DIR: dataDir }));
  }, 120_000);

  it('refuses a direct way to another database than the pooler leads to', async () => {
    const [one, other] = [await empty(), await empty()];
    const node = await start({ DATABASE_URL: one.url, SVC_DATABASE_DIRECT_URL: other.url });
    expect(await node.ended).toBe(1);
    expect(node.said()).toContain('SVC_DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
  }, 60_000);

  it('a key that cannot be kept is not made: the next start makes it', async () => {
    const database = await empty();
    const blocked = join(folder, 'a-file');
    await writeFile(blocked, '');
    const failing = await start({ DATABASE_URL: database.url, SVC_DATA_DIR: join(blocked, 'data') });
    expect(await failing.ended).toBe(1);
    expect(failing.said()).toContain('a-file');
    expect(await database.database.raw('SELECT count(*)::int AS count FROM api_key')).toEqual([{ count: 0 }]);
    const SVC_DATA_DIR = join(folder, 'second');
    await ready(await start({ DATABASE_URL: database.url, SVC_DATA_DIR }));
    expect(await readFile(join(SVC_DATA_DIR, 'first-api-key'), 'utf8')).toMatch(/^svc_/);
  }, 90_000);

  it('a worker makes no key; migrate does; operator-keys create makes one at any time', async () => {
    const database = await empty();
    const count = async () =>
      (await database.database.raw('SELECT count(*)::int AS count FROM api_key'))[0]?.['count'];
    const given = { DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, 'third') };
    const worker = await start(given, ['worker']);
    await expect.poll(worker.said, { timeout: 60_000 }).toContain('svc worker is ready');
    expect(await count()).toBe(0);
    expect(await (await start(given, ['migrate'])).ended).toBe(0);
    expect(await count()).toBe(1);
    const made = await start(given, ['operator-keys', 'create', '--full', '--label', 'lost the first']);
    expect(await made.ended).toBe(0);
    const node = await start(given, ['api']);
    await ready(node);
    const key = made.printed().trim();
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);
    expect((await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': key } })).status).toBe(200);
    const log = await database.database.raw(
      "SELECT actor_kind FROM audit_log WHERE action = 'apiKey.created' ORDER BY id",
    );
    expect(log).toEqual([{ actor_kind: 'operator' }, { actor_kind: 'operator' }]);
    expect(await (await start(given, ['operator-keys', 'create'])).ended).toBe(1);
  }, 120_000);

  it('operator-keys create works beside a running svc, says where, and makes no database', async () => {
    const SVC_DATA_DIR = join(folder, 'beside');
    await mkdir(SVC_DATA_DIR, { mode: 0o755 });
    await chmod(folder, 0o755);
    const node = await start({ SVC_DATA_DIR });
    await ready(node);
    const made = await start({ SVC_DATA_DIR }, ['operator-keys', 'create', '--full']);
    expect([await made.ended, made.said()]).toEqual([0, expect.stringContaining(`in ${SVC_DATA_DIR}`)]);
    expect(await projectsBy(node, { 'x-api-key': made.printed().trim() })).toBe(200);
    const elsewhere = join(folder, 'elsewhere');
    const lost = await start({ SVC_DATA_DIR: elsewhere }, ['operator-keys', 'create', '--full']);
    expect(await lost.ended).toBe(1);
    expect(lost.said()).toContain(`no embedded database in ${elsewhere}`);
    await expect(stat(elsewhere)).rejects.toThrow('ENOENT');
    const { url: DATABASE_URL, database } = await empty();
    const foreign = await start({ DATABASE_URL }, ['operator-keys', 'create', '--full']);
    expect(await foreign.ended).toBe(1);
    const { host, pathname } = new URL(DATABASE_URL);
    expect(foreign.said()).toContain(`the database ${host}${pathname} of DATABASE_URL is not one of svc`);
    expect(await database.raw("SELECT relname FROM pg_class WHERE relname = 'migrations'")).toEqual([]);
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
    expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
  }, 180_000);

  it('a role that may make no tables is told of a schema of its own, which suffices', async () => {
    const { url: DATABASE_URL, database } = await empty();
    const { pathname, username } = new URL(DATABASE_URL);
    const name = pathname.slice(1);
    await database.raw(`CREATE SCHEMA locked; REVOKE ALL ON SCHEMA locked FROM CURRENT_USER`);
    for (const path of ['locked', 'nowhere']) {
      await database.raw(`ALTER DATABASE ${name} SET search_path = "$user", ${path}`);
      const refused = await start({ DATABASE_URL });
      expect(await refused.ended).toBe(1);
      expect(refused.said()).toMatch(
        new RegExp(
          `the role ${username} may not make tables in the database ${name}.*CREATE SCHEMA ${username} AUTHORIZATION ${username} `,
        ),
      );
    }
    await database.raw(`CREATE SCHEMA ${username} AUTHORIZATION ${username}`);
    await ready(await start({ DATABASE_URL }));
    const schemas = await database.raw(
      "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    expect(schemas).toEqual([{ schemaname: username }]);
  }, 120_000);

  it('SVC_BOOTSTRAP_API_KEY may be any 32 characters', async () => {
    const { url: DATABASE_URL } = await empty();
    const key = 'correct/horse+battery=staple.0123';
    const node = await start({ DATABASE_URL, SVC_BOOTSTRAP_API_KEY: key });
    await ready(node);
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);
    expect(await projectsBy(node, { authorization: `Bearer ${key}` })).toBe(200);
    expect(await projectsBy(node, { 'x-api-key': `${key}4` })).toBe(401);
    const short = await start({ DATABASE_URL, SVC_BOOTSTRAP_API_KEY: 'too short' });
    expect(await short.ended).toBe(1);
    expect(short.said()).toContain('SVC_BOOTSTRAP_API_KEY must be 32');
  }, 90_000);

  it('a node with another master key does not start, and one with the right one does', async () => {
    const { url: DATABASE_URL } = await empty();
    const first = await start({ DATABASE_URL });
    await ready(first);
    for (const SVC_ENCRYPTION_KEYS of [masterKey(8), masterKey(9).replace('k1', 'k2')]) {
      const node = await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS });
      expect(await node.ended).toBe(1);
      expect(node.said()).toMatch(/master key/);
    }
    const both = `${masterKey(9).replace('k1', 'k2')},${masterKey(7)}`;
    await ready(await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS: both }));
    await ready(await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS: masterKey(9).replace('k1', 'k2') }));
  }, 120_000);

  it('waits for a database that is not up yet, and says so', async () => {
    const database = await createTestDatabase();
    databases.push(database);
    const wire = await startForwarder(database.url);
    wire.cut('refuse');
    const node = await start({ DATABASE_URL: wire.url });
    await expect
      .poll(() => node.said().match(/waiting for the database/g)?.length ?? 0, { timeout: 30_000 })
      .toBeGreaterThan(1);
    expect(node.child.exitCode).toBeNull();
    wire.heal();
    try {
      await ready(node);
      node.child.kill('SIGTERM');
      expect(await node.ended).toBe(0);
    } finally {
      await wire.close();
    }
  }, 90_000);

  it('says what the database answered when it cannot start', async () => {
    const { url: DATABASE_URL, database } = await empty();
    const name = new URL(DATABASE_URL).pathname.slice(1);
    await database.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const node = await start({ DATABASE_URL });
    expect(await node.ended).toBe(1);
    expect(node.said()).toContain('read-only transaction');
  }, 60_000);

  it.skipIf(!pgbouncer)(
    'waits for a pooler that refuses it, and says what the pooler answered',
    async () => {
      const { url } = await empty();
      const pooler = await startPgbouncer(pgbouncer ?? '', url);
      try {
        const stranger = new URL(pooler.through(url));
        stranger.username = 'stranger';
        const node = await start({ DATABASE_URL: stranger.href, SVC_DATABASE_DIRECT_URL: url });
        await expect
          .poll(node.said, { timeout: 30_000 })
          .toMatch(/waiting for the pooler of DATABASE_URL: .*(authentication failed|no such user)/);
        expect(node.child.exitCode).toBeNull();
      } finally {
        await pooler.stop();
      }
    },
    60_000,
  );

  it('a start that fails takes the embedded server with it', async () => {
    const SVC_DATA_DIR = join(folder, 'embedded');
    await mkdir(SVC_DATA_DIR, { mode: 0o755 });
    // As root the server runs as another user, who must get there.
    await chmod(folder, 0o755);
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    try {
      const node = await start({ SVC_DATA_DIR, SVC_PORT: String(port) });
      expect(await node.ended).toBe(1);
      expect(node.said()).toContain(`port ${port} is taken; set SVC_PORT to another one`);
      expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
    } finally {
      taken.close();
    }
  }, 120_000);

  it('SIGTERM to npm start stops the platform', async () => {
    const { url: DATABASE_URL } = await empty();
    const node = await start({ DATABASE_URL }, [], ['npm', 'start']);
    await ready(node);
    node.child.kill('SIGTERM');
    await expect
      .poll(
        () =>
          fetch(`${node.base}/healthz`).then(
            () => 'answers',
            () => 'gone',
          ),
        { timeout: 20_000 },
      )
      .toBe('gone');
  }, 90_000);
});
