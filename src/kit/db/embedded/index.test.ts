import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { installedBinaries } from './binaries.ts';
import { startEmbedded, type EmbeddedServer } from './index.ts';

const { version } = await installedBinaries();
const isRoot = process.getuid?.() === 0;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(dataDir: string, lines: string[] = []): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDir, log: (line) => lines.push(line) });
  cleanups.push(() => server.stop());
  return server;
}

async function ask(server: EmbeddedServer, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Asks again until it works: what a pool does for its callers. */
async function askUntilAnswered(server: EmbeddedServer, text: string): Promise<unknown[]> {
  for (const giveUpAt = Date.now() + 15_000; ; await sleep(20)) {
    try {
      return await ask(server, text);
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
    }
  }
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

describe('src/kit/db/embedded/index', () => {
  it('starts on an empty folder, durable, reachable by nobody else, with a role that is no superuser', async () => {
    const dataDir = await temporaryFolder();
    const server = await start(dataDir);
    expect(server).toMatchObject({ dataDir, adopted: false });
    expect(
      await ask(
        server,
        `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS tcp, current_user AS role,
           rolsuper AS super, current_setting('server_encoding') AS encoding, lower('ÄÖ') AS lower
         FROM pg_roles WHERE rolname = current_user`,
      ),
    ).toEqual([{ fsync: 'on', tcp: '', role: 'svc', super: false, encoding: 'UTF8', lower: 'äö' }]);
    expect((await stat(join(dataDir, 'run'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, 'data/svc.password'))).mode & 0o777).toBe(0o600);
    const url = new URL(server.url);
    url.username = 'postgres';
    const superuser = new Client({ connectionString: url.href });
    await expect(superuser.connect()).rejects.toMatchObject({ code: '28000' });
    url.username = 'svc';
    url.password = 'guessed';
    const guesser = new Client({ connectionString: url.href });
    await expect(guesser.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  it('keeps the data over a stop and a start', async () => {
    const dataDir = await temporaryFolder();
    const first = await startEmbedded({ dataDir });
    await ask(first, 'CREATE TABLE kept AS SELECT 1 AS one');
    const pid = await postmasterPid(dataDir);
    await first.stop();
    await expect(stat(join(dataDir, 'data/postmaster.pid'))).rejects.toThrow('ENOENT');
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await postmasterPid(dataDir)).not.toBe(pid);
    expect(await ask(second, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('is adopted by the next process when its owner was killed', async () => {
    const dataDir = await temporaryFolder();
    const door = JSON.stringify(new URL('index.ts', import.meta.url).href);
    const script = `const { startEmbedded } = await import(${door});
      await startEmbedded({ dataDir: process.env.DATA_DIR });
      process.stdout.write('owned');`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(owner.stdout, 'data');
    const pid = await postmasterPid(dataDir);
    await expect(startEmbedded({ dataDir })).rejects.toThrow(`svc owner, process ${owner.pid}`);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const started = Date.now();
    const server = await start(dataDir);
    expect(server.adopted).toBe(true);
    expect(await postmasterPid(dataDir)).toBe(pid);
    expect(Date.now() - started).toBeLessThan(2_000);
  });

  it('refuses a second owner, naming the folder and the remedies, until the first one lets go', async () => {
    const dataDir = await temporaryFolder();
    const first = await startEmbedded({ dataDir });
    const refusal = await startEmbedded({ dataDir }).then(
      () => '',
      (error: unknown) => String(error),
    );
    expect(refusal).toContain(dataDir);
    expect(refusal).toContain('DATABASE_URL');
    expect(refusal).toContain('SVC_DATA_DIR');
    await first.release();
    expect((await start(dataDir)).adopted).toBe(true);
  });

  it('lets one of two processes have it that start on an empty folder at once', async () => {
    const dataDir = await temporaryFolder();
    const starts = await Promise.allSettled([startEmbedded({ dataDir }), startEmbedded({ dataDir })]);
    for (const begun of starts) if (begun.status === 'fulfilled') cleanups.push(() => begun.value.stop());
    expect(starts.map((begun) => begun.status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = starts.find((begun) => begun.status === 'rejected');
    expect(String(refused?.reason)).toContain('in use by another process');
  });

  it('comes back at the same address when the server is killed, and is still owned', async () => {
    const dataDir = await temporaryFolder();
    const lines: string[] = [];
    const server = await start(dataDir, lines);
    await ask(server, 'CREATE TABLE kept AS SELECT 1 AS one');
    const pid = await postmasterPid(dataDir);
    process.kill(pid, 'SIGKILL');
    expect(await askUntilAnswered(server, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    expect(await postmasterPid(dataDir)).not.toBe(pid);
    await expect.poll(() => lines.join('\n')).toMatch(/was started again/);
    await expect(startEmbedded({ dataDir })).rejects.toThrow('in use by another process');
  });

  it('takes the lock again when only the connection that held it was ended', async () => {
    const dataDir = await temporaryFolder();
    const lines: string[] = [];
    const server = await start(dataDir, lines);
    await ask(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'svc owner%'`,
    );
    await expect.poll(() => lines.join('\n')).toMatch(/answers again/);
    await expect(startEmbedded({ dataDir })).rejects.toThrow('in use by another process');
  });

  it('starts in spite of a stale postmaster.pid whose number a stranger has got', async () => {
    const dataDir = await temporaryFolder();
    const first = await startEmbedded({ dataDir });
    const pidFile = join(dataDir, 'data/postmaster.pid');
    const written = await readFile(pidFile, 'utf8');
    await first.stop();
    const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    const stranger = spawn('sleep', ['60'], { ...nobody, stdio: 'ignore' });
    cleanups.push(async () => stranger.kill('SIGKILL'));
    await writeFile(pidFile, written.replace(/^\d+/, String(stranger.pid)));
    const lines: string[] = [];
    expect((await start(dataDir, lines)).adopted).toBe(false);
    expect(lines.join('\n')).toContain('stale postmaster.pid');
  });

  it('refuses data of another major version of PostgreSQL', async () => {
    const dataDir = await temporaryFolder();
    const first = await startEmbedded({ dataDir });
    await first.stop();
    await writeFile(join(dataDir, 'data/PG_VERSION'), '14\n');
    await expect(startEmbedded({ dataDir })).rejects.toThrow(
      /is of PostgreSQL 14; this release runs PostgreSQL 18/,
    );
  });

  it('says what names a folder that cannot be made', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    for (const dataDir of [file, join(file, 'below')])
      await expect(startEmbedded({ dataDir })).rejects.toThrow(/SVC_DATA_DIR/);
  });

  it('puts the socket into the temp folder when the path would be too long for it', async () => {
    const parent = await temporaryFolder();
    await chmod(parent, 0o755);
    const dataDir = join(parent, 'long'.repeat(20));
    const server = await start(dataDir);
    const socket = new URL(server.url).searchParams.get('host') ?? '';
    cleanups.push(() => rm(socket, { recursive: true, force: true }));
    expect(socket.startsWith(join(tmpdir(), 'svc-'))).toBe(true);
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.runIf(isRoot)(
    'finds another home, and finds it again, where the unprivileged user cannot reach the folder',
    async () => {
      const closed = await temporaryFolder();
      await chmod(closed, 0o700);
      const dataDir = join(closed, 'project/.svc/postgres');
      const lines: string[] = [];
      const first = await startEmbedded({ dataDir, log: (line) => lines.push(line) });
      cleanups.push(() =>
        rm(first.dataDir, { recursive: true, force: true }).then(() =>
          rmdir('/var/lib/svc').catch(() => undefined),
        ),
      );
      expect(first.dataDir).toMatch(/^\/var\/lib\/svc\/[0-9a-f]{16}$/);
      expect(lines.join('\n')).toContain(first.dataDir);
      await ask(first, 'CREATE TABLE kept AS SELECT 1 AS one');
      await first.stop();
      // Reachable now, but the data stays where it is.
      await chmod(closed, 0o755);
      const second = await start(dataDir);
      expect(second.dataDir).toBe(first.dataDir);
      expect(await ask(second, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    },
  );

  describe.runIf(isRoot)('as root', () => {
    /** A folder of root's that nobody but a link leads to. */
    async function victim(): Promise<string> {
      const folder = await temporaryFolder();
      await chmod(folder, 0o755);
      return folder;
    }
    const ownerAndMode = async (path: string) => {
      const { uid, mode } = await stat(path);
      return { uid, mode: mode & 0o777 };
    };

    it('refuses a folder that is a link, or somebody else’s, and changes nothing behind it', async () => {
      const [folder, parent] = [await victim(), await victim()];
      const link = join(parent, 'postgres');
      await symlink(folder, link);
      await expect(startEmbedded({ dataDir: link })).rejects.toThrow(/postgres is a link, or not a folder/);
      expect(await ownerAndMode(folder)).toEqual({ uid: 0, mode: 0o755 });
      const foreign = join(parent, 'foreign');
      await mkdir(foreign);
      await chown(foreign, 12_345, 12_345);
      await expect(startEmbedded({ dataDir: foreign })).rejects.toThrow(/not a folder of root or of user/);
      expect(await ownerAndMode(foreign)).toEqual({ uid: 12_345, mode: 0o755 });
    });

    it('follows a pointer only to where it puts such folders', async () => {
      const [folder, asked] = [await victim(), await victim()];
      await writeFile(join(asked, 'location'), `${folder}\n`);
      await expect(startEmbedded({ dataDir: asked })).rejects.toThrow(/location does not name a folder/);
      expect(await ownerAndMode(folder)).toEqual({ uid: 0, mode: 0o755 });
    });

    it('makes no new database where a copied pointer leads to none', async () => {
      const asked = await victim();
      const home = '/var/lib/svc/0000000000000000';
      await writeFile(join(asked, 'location'), `${home}\n`);
      await expect(startEmbedded({ dataDir: asked })).rejects.toThrow(`${home} is not there`);
      await expect(stat(home)).rejects.toThrow('ENOENT');
    });

    it.each(['run', `lib-${version}`])(
      'gives nothing away through a link that stands at %s, and lets the user of the server put none there',
      async (name) => {
        const [folder, dataDir] = [await victim(), await temporaryFolder()];
        // As earlier releases left it.
        await chown(dataDir, 65_534, 65_534);
        await symlink(folder, join(dataDir, name));
        await expect(startEmbedded({ dataDir })).rejects.toThrow('is not a folder');
        expect(await ownerAndMode(folder)).toEqual({ uid: 0, mode: 0o755 });
        await rm(join(dataDir, name));
        const server = await start(dataDir);
        expect(await ask(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
        expect(await ownerAndMode(dataDir)).toEqual({ uid: 0, mode: 0o711 });
        const plant = spawn('ln', ['-s', folder, join(dataDir, 'planted')], {
          uid: 65_534,
          gid: 65_534,
          stdio: 'ignore',
        });
        expect(await once(plant, 'exit')).toEqual([1, null]);
      },
    );
  });
});
