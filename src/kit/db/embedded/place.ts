import { createHash } from 'node:crypto';
import { chmod, constants, lchown, lstat, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeDataFolder } from '../../data-folder.ts';
import { copyBinaries, installedBinaries, type Account, type Binaries } from './binaries.ts';

/** Where one embedded server lives. */
export interface Place {
  /** The folder of everything: `data`, `run` (socket), `lib-…`, `server.log`. Root keeps its own, so that nobody else can put links there. */
  home: string;
  /** PGDATA. */
  data: string;
  binaries: Binaries;
  /** Set when this process is root, as PostgreSQL refuses to be. */
  account?: Account;
}

/** The unprivileged user that exists on every Linux; we never create one. */
const nobody: Account = { uid: 65_534, gid: 65_534 };
/** For root only, where the unprivileged user cannot reach the project; not below the temp folder, which a boot may clean. */
const systemHome = '/var/lib/svc';
/** Left in the asked-for folder when the data had to go elsewhere, and followed from then on. */
const pointerFile = 'location';

/** Decides where data and binaries live, makes the folders and gives them to the user that runs the server. */
export async function settle(dataDir: string, log: (line: string) => void): Promise<Place> {
  const asked = resolve(dataDir);
  const installed = await installedBinaries();
  const pointed = await pointedFrom(asked);
  if (pointed !== undefined) await refuseLost(asked, pointed);
  let home = pointed ?? asked;
  const owner = await ownerOf(join(home, 'data'));
  if (process.getuid?.() !== 0) {
    refuseForeignOwner(home, owner);
    await makeDataFolder(home);
    return { home, data: join(home, 'data'), binaries: installed };
  }
  if (process.platform !== 'linux') {
    throw new Error(
      'The embedded PostgreSQL cannot be run by root on this system. Start as another user, or set DATABASE_URL.',
    );
  }
  const account = owner && owner.uid !== 0 ? owner : nobody;
  await makeDataFolder(dirname(home));
  if (!(await canEnter(account, dirname(home)))) {
    if (owner) {
      throw new Error(
        `The OS user ${account.uid}, who owns the database in ${home}, can no longer reach it. Let it pass through the folders above.`,
      );
    }
    home = await moveToSystemHome(asked, account, log);
  }
  await takeFolder(home, account);
  let binaries = installed;
  if (!(await canEnter(account, join(installed.root, 'native/bin')))) {
    binaries = await copyBinaries(installed, await makeSystemHome(), log);
  }
  return { home, data: join(home, 'data'), binaries, account };
}

/** Whether a cluster was made for the folder. Makes nothing. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  const asked = resolve(dataDir);
  const home = (await pointedFrom(asked)) ?? asked;
  return (await ownerOf(join(home, 'data'))) !== undefined;
}

/** The folder that the pointer names; only where we put such folders. */
async function pointedFrom(asked: string): Promise<string | undefined> {
  const pointed = await readFile(join(asked, pointerFile), 'utf8').catch(() => undefined);
  const home = pointed?.trim();
  if (home === undefined || (home === resolve(home) && dirname(home) === systemHome)) return home;
  throw new Error(
    `${join(asked, pointerFile)} does not name a folder in ${systemHome}. Remove it, or set SVC_DATA_DIR to another folder.`,
  );
}

/** A copy of the asked-for folder has the pointer without the database: a new one in its place would look like the loss of everything. */
async function refuseLost(asked: string, home: string): Promise<void> {
  if ((await ownerOf(home)) !== undefined) return;
  throw new Error(
    `${home} is not there, and ${join(asked, pointerFile)} says that the database is in it. Put that folder back from a backup, with its owners and modes. To begin with an empty database instead, remove ${asked}.`,
  );
}

/** Gives the folder to root; others may pass through. Works on the descriptor, since a name could be replaced by a link meanwhile. */
async function takeFolder(folder: string, account: Account): Promise<void> {
  await makeDataFolder(folder);
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  const opened = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((cause: unknown) => {
    throw notOurs(folder, account, cause);
  });
  try {
    const { uid } = await opened.stat();
    // The server's user had it in earlier releases.
    if (uid !== 0 && uid !== account.uid) throw notOurs(folder, account);
    await opened.chown(0, 0);
    await opened.chmod(0o711);
  } finally {
    await opened.close();
  }
}

function notOurs(folder: string, account: Account, cause?: unknown): Error {
  return new Error(
    `${folder} is a link, or not a folder of root or of user ${account.uid}, who runs the database. Remove it, or set SVC_DATA_DIR to another folder.`,
    { cause },
  );
}

async function moveToSystemHome(
  asked: string,
  account: Account,
  log: (line: string) => void,
): Promise<string> {
  const name = createHash('sha256').update(asked).digest('hex').slice(0, 16);
  const home = join(await makeSystemHome(), name);
  // Before the pointer, whose folder is missing only where it was lost.
  await makeDataFolder(home);
  await mkdir(asked, { recursive: true });
  await writeFile(join(asked, pointerFile), `${home}\n`);
  log(
    `embedded PostgreSQL: this is root, and user ${account.uid}, who runs the server instead, cannot reach ${asked}; the data is in ${home}`,
  );
  return home;
}

async function makeSystemHome(): Promise<string> {
  try {
    await mkdir(systemHome, { recursive: true });
    await chmod(systemHome, 0o755);
    return systemHome;
  } catch (cause) {
    throw new Error(
      `${systemHome} cannot be made. Set SVC_DATA_DIR to a folder that user ${nobody.uid} can reach, or set DATABASE_URL.`,
      { cause },
    );
  }
}

function refuseForeignOwner(home: string, owner: Account | undefined): void {
  const uid = process.getuid?.();
  if (owner && uid !== undefined && owner.uid !== uid) {
    throw new Error(
      `The database in ${home} belongs to OS user ${owner.uid}, this process is user ${uid}. Start as the user that made it (root, if root did), or set SVC_DATA_DIR to another folder.`,
    );
  }
}

async function ownerOf(path: string): Promise<Account | undefined> {
  const found = await stat(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(
      `${path} cannot be read. Start as the user that made the database (root, if root did), or set SVC_DATA_DIR to another folder.`,
      { cause: error },
    );
  });
  return found && { uid: found.uid, gid: found.gid };
}

/** Whether the account may pass through the folder and all above it, by their permission bits. */
async function canEnter(account: Account, folder: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(folder);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const above = dirname(folder);
  return above === folder || canEnter(account, above);
}

/** Makes the folder of the socket: mode 0700, owned by the user that runs the server. Returns its path. */
export async function makeSocketFolder(place: Place): Promise<string> {
  const folder = socketFolder(place.home);
  const uid = place.account?.uid ?? process.getuid?.();
  await mkdir(folder, { mode: 0o700 }).then(
    () => place.account && lchown(folder, place.account.uid, place.account.gid),
    () => undefined,
  );
  // In the shared temp folder somebody else may have been there first.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} is not a folder of user ${uid} with mode 0700; remove it, or set SVC_DATA_DIR to another folder.`,
    );
  }
  return folder;
}

/** A socket's path has at most 103 bytes (macOS; 107 on Linux): a long one moves to the temp folder. */
function socketFolder(home: string): string {
  const near = join(home, 'run');
  if (Buffer.byteLength(near) + '/.s.PGSQL.5432'.length <= 103) return near;
  return join(tmpdir(), `svc-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`);
}
