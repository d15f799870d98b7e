import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lchown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { linkLibraries } from './binaries.ts';
import type { Place } from './place.ts';

/** An initialised data directory with what is needed to run it and to log in. */
export interface Cluster extends Place {
  password: string;
  env: Record<string, string>;
}

/** Role and database of the service. The bootstrap superuser `postgres` has no password and no line in pg_hba.conf. */
export const roleName = 'svc';
const passwordFile = 'svc.password';
/** Half-made directories of processes that died while making them. */
const abandonedAfterMs = 10 * 60_000;

// A password always: as root the server's user is `nobody`, shared with others, so that owning the socket proves nothing.
const accessRules = `local all ${roleName} scram-sha-256\nhost all ${roleName} 127.0.0.1/32 scram-sha-256\n`;

/** Makes the data directory unless it exists, and checks that these binaries can run it. */
export async function ensureCluster(place: Place): Promise<Cluster> {
  const libraries = await linkLibraries(place.binaries, place.home);
  const cluster = { ...place, password: '', env: cleanEnvironment(place, libraries) };
  if (!(await stat(place.data).catch(() => undefined))) await create(cluster);
  const major = (await readFile(join(place.data, 'PG_VERSION'), 'utf8')).trim();
  if (major !== String(place.binaries.major)) {
    throw new Error(
      `The database in ${place.home} is of PostgreSQL ${major}; this release runs PostgreSQL ${place.binaries.major}. Export it with the release that made it and import it into a new one, or set DATABASE_URL to a server of your own.`,
    );
  }
  return { ...cluster, password: (await readFile(join(place.data, passwordFile), 'utf8')).trim() };
}

/** Makes it under another name first, so that a process that dies or races leaves nothing half-made under the real one. */
async function create(cluster: Cluster): Promise<void> {
  await removeAbandoned(cluster.home);
  const unfinished = join(cluster.home, `making-${randomBytes(6).toString('hex')}`);
  const password = randomBytes(24).toString('base64url');
  try {
    await mkdir(unfinished, { mode: 0o700 });
    if (cluster.account) await lchown(unfinished, cluster.account.uid, cluster.account.gid);
    await runTool(cluster, 'initdb', [
      `--pgdata=${unfinished}`,
      '--username=postgres',
      '--auth=trust',
      '--no-instructions',
      '--encoding=UTF8',
      '--locale=C',
      // The provider inside PostgreSQL: the order and case of text do not change with the system's libraries.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]);
    await rm(join(unfinished, 'pg_hba.conf'));
    await writeNew(join(unfinished, 'pg_hba.conf'), accessRules, cluster);
    await writeNew(join(unfinished, passwordFile), password, cluster);
    // Single-user mode: nobody can connect before role and password exist.
    await runTool(
      cluster,
      'postgres',
      ['--single', '-D', unfinished, '-c', 'log_min_messages=error', 'postgres'],
      `CREATE ROLE ${roleName} LOGIN CREATEDB PASSWORD '${password}';\n` +
        `GRANT pg_read_all_settings TO ${roleName};\n` +
        `CREATE DATABASE ${roleName} OWNER ${roleName};\n`,
    );
    await rename(unfinished, cluster.data).catch(async (error: unknown) => {
      // Another process made it meanwhile: its one counts.
      if (!(await stat(cluster.data).catch(() => undefined))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Root writes in a folder of the other user here: never through a link that stands there already. */
async function writeNew(path: string, text: string, { account }: Cluster): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    if (account) await file.chown(account.uid, account.gid);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith('making-')) continue;
    const found = await stat(join(home, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > abandonedAfterMs)
      await rm(join(home, name), { recursive: true, force: true });
  }
}

/** The environment of the server, which outlives this process: no PG* variables, no secrets. */
function cleanEnvironment(place: Place, libraries: string): Record<string, string> {
  const native = join(place.binaries.root, 'native');
  if (process.platform === 'win32')
    return {
      PATH: `${join(native, 'bin')};${process.env.PATH ?? ''}`,
      SystemRoot: process.env.SystemRoot ?? '',
    };
  const search = `${libraries}:${join(native, 'lib')}`;
  return {
    PATH: '/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    LD_LIBRARY_PATH: search,
    DYLD_LIBRARY_PATH: search,
  };
}

/** The path of one of the binaries. */
export function tool(place: Place, name: string): string {
  return join(place.binaries.root, 'native/bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/** Runs a binary as the server's user and waits for its end. Throws with what it printed when it fails. */
export async function runTool(cluster: Cluster, name: string, args: string[], input = ''): Promise<void> {
  const child = spawn(tool(cluster, name), args, {
    cwd: cluster.home,
    env: cluster.env,
    ...cluster.account,
    windowsHide: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  // Single-user mode answers a failed statement with an ERROR line and ends well.
  if (code !== 0 || /^.*\b(ERROR|FATAL|PANIC):/m.test(printed)) {
    throw new Error(
      `The embedded PostgreSQL could not be prepared (${name}): ${printed.trim().slice(-1_000)}`,
    );
  }
}
