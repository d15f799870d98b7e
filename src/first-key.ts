import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publicUrlOf, type Config } from './config.ts';
import { openDatabase, type Database } from './kit/db/database.ts';
import { isUnsaid } from './kit/db/faults.ts';
import { isId } from './kit/ids.ts';
import type { Logger } from './kit/log.ts';
import { Problem } from './kit/problem.ts';
import { endOperator, makeOwnerLink, makeResetLink, makeWelcomeLink } from './people/index.ts';
import { bootstrap, createOperatorKey, settleKept } from './projects/index.ts';

/** A key before the answer to its commit; without a file it is shown on the terminal. */
interface Kept {
  apiKey: string;
  file: string | undefined;
}

/** Files of keys of which the database did not say to this process whether it stored them. */
const unanswered = new Set<string>();

/**
 * On an empty database: the first project, and its key on the terminal or, without one, in a file that only its owner can read. The file has
 * another name, with the id of the project, until the key is known to be stored: a start that does not learn it leaves that to the next one.
 */
export async function makeFirstKey(config: Config, url: string, say: (line: string) => void): Promise<void> {
  const isTerminal = process.stderr.isTTY;
  const path = join(config.dataDir, 'first-api-key');
  let kept: Kept | undefined;
  const keep = async (apiKey: string, projectId: string): Promise<void> => {
    const file = isTerminal ? undefined : `${path}.${projectId}.unfinished`;
    if (file !== undefined) await writeSecret(file, path, apiKey);
    kept = { apiKey, file };
  };
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc first start' });
  try {
    const { apiKey } = await bootstrap(database, { givenKey: config.bootstrapApiKey, keep });
    if (apiKey !== undefined && isTerminal)
      say(`\nThis is the first API key of project "default". It is shown only now:\n\n  ${apiKey}\n`);
    kept = undefined;
    await finishKeys(database, path, say);
  } catch (error) {
    if (kept) await leave(kept, error instanceof Problem && isUnsaid(error), say);
    throw error;
  } finally {
    await database.close();
  }
}

/** Where it may be stored, it is kept and named; otherwise it is of no use. */
async function leave(
  { apiKey, file }: Kept,
  mayBeStored: boolean,
  say: (line: string) => void,
): Promise<void> {
  const doubt = 'The database did not say whether it stored';
  if (!mayBeStored) return file === undefined ? undefined : rm(file, { force: true });
  if (file === undefined)
    return say(
      `\n${doubt} this first API key of project "default". It may be valid, and is shown only now:\n\n  ${apiKey}\n`,
    );
  unanswered.add(file);
  say(
    `${doubt} the first API key of project "default". It may be valid, and is in ${file}; svc looks once the database answers.`,
  );
}

/** Looks for keys that were written before their commit, in this process, in another one, or for another database. */
async function finishKeys(database: Database, path: string, say: (line: string) => void): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names) {
    const [, projectId = ''] = /^first-api-key\.([^.]+)\.unfinished$/.exec(name) ?? [];
    if (isId(projectId)) await finishKey(database, { path, projectId }, say);
  }
}

/** A key that is stored gets its name. One that is of no use goes; one that may be of use elsewhere stays. */
async function finishKey(
  database: Database,
  { path, projectId }: { path: string; projectId: string },
  say: (line: string) => void,
): Promise<void> {
  const file = `${path}.${projectId}.unfinished`;
  const written = (): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);
  const apiKey = (await written())?.trim();
  if (apiKey === undefined) return;
  await settleKept(database, { projectId, apiKey }, async (state) => {
    // Another process may have been here before.
    if ((await written()) === undefined) return;
    if (state === 'stored') {
      const aside = await setAside(path);
      if (aside !== undefined) say(`The key of another database that was in ${path} is in ${aside} now.`);
      await rename(file, path);
      say(`The first API key of project "default" is in ${path}; move it to a safe place.`);
    } else if (state === 'gone' || unanswered.has(file)) await rm(file, { force: true });
    else
      say(`${file} has a first API key that this database does not know: it is of another one, or of none.`);
  });
}

/** In a file that only its owner can read, whole or not at all. */
async function keepSecret(path: string, secret: string): Promise<void> {
  const file = `${path}.unfinished`;
  await writeSecret(file, path, secret);
  await rename(file, path).catch(unwritten(file, path));
}

/** The file that is to be that of the path later; nothing is there when it could not be written. */
async function writeSecret(file: string, path: string, secret: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(file, `${secret}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  } catch (error) {
    await unwritten(file, path)(error);
  }
}

const unwritten =
  (file: string, path: string) =>
  async (cause: unknown): Promise<never> => {
    await rm(file, { force: true }).catch(() => undefined);
    const remedy = 'make room there, or set SVC_DATA_DIR to a folder that this user may write to';
    throw new Error(`${path} could not be written (${remedy})`, { cause });
  };

/** A file that is there already, and may hold what nobody has moved yet: its new name, or undefined where there was none. */
async function setAside(path: string): Promise<string | undefined> {
  const aside = `${path}.${new Date().toISOString().replaceAll(':', '-')}`;
  return rename(path, aside).then(
    () => aside,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
}

/** While nobody can sign in: the link of the first person, on the terminal or, without one, in a file that only its owner can read. */
export async function makeFirstLink(config: Config, url: string, say: (line: string) => void): Promise<void> {
  const path = welcomeLinkPath(config);
  const lines: string[] = [];
  const keep = async (link: string): Promise<void> => {
    if (process.stderr.isTTY) {
      lines.push(`Become the first user, an owner, by this link. It holds for a week, once:\n\n  ${link}\n`);
      return;
    }
    await keepSecret(path, link);
    lines.push(`The link by which the first user signs in is in ${path}; it holds for a week, once.`);
  };
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc first start' });
  try {
    const isOver = await makeWelcomeLink(database, publicUrlOf(config), keep);
    if (isOver) await rm(path, { force: true });
    lines.forEach(say);
  } catch (error) {
    // A link can be made at any time; nothing else needs it.
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    say(`No link for the first user could be kept: ${why}; \`svc people invite --owner\` makes one.`);
  } finally {
    await database.close();
  }
}

const welcomeLinkPath = ({ dataDir }: Config): string => join(dataDir, 'welcome-link');

/** Once the first user is there: a link that was used is of no use. */
export async function forgetWelcomeLink(config: Config, log: Logger): Promise<void> {
  await rm(welcomeLinkPath(config), { force: true }).catch((error: unknown) =>
    log.warn({ err: error }, 'the file with the link of the first user could not be removed'),
  );
}

/** The roles `people invite` and `people reset`: print the link alone to standard output. */
export async function printLink(
  config: Config,
  url: string,
  {
    kind,
    email,
    place,
  }: { kind: 'people invite' | 'people reset'; email: string | undefined; place: string },
  say: (line: string) => void,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: `svc ${kind}` });
  try {
    const publicUrl = publicUrlOf(config);
    const link = await (kind === 'people invite'
      ? makeOwnerLink(database, publicUrl, email)
      : makeResetLink(database, publicUrl, email ?? ''));
    process.stdout.write(`${link}\n`);
    const what = kind === 'people invite' ? 'become an owner of every project' : 'choose a new password';
    say(`A link to ${what}, in ${place}. It holds once, and is shown only now.`);
  } finally {
    await database.close();
  }
}

/** The role `people demote`. */
export async function demote(
  url: string,
  { email, place }: { email: string; place: string },
  say: (line: string) => void,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc people demote' });
  try {
    await endOperator(database, email);
    say(
      `${email} is no operator any more, in ${place}, and keeps the roles that they have in projects. Keys that they made stay.`,
    );
  } finally {
    await database.close();
  }
}

/** The role `operator-keys create`: prints the key alone to standard output. */
export async function createKey(
  url: string,
  { in: place, ...given }: { label: string; project?: string | undefined; in: string },
  say: (line: string) => void,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc operator-keys create' });
  try {
    const { key, projectName } = await createOperatorKey(database, given, place);
    process.stdout.write(`${key}\n`);
    say(`An API key of project "${projectName}" with all rights, in ${place}. It is shown only now.`);
  } finally {
    await database.close();
  }
}
