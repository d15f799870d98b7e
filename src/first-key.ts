import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publicUrlOf, type Config } from './config.ts';
import { openDatabase, type Database } from './kit/db/database.ts';
import { isUnsaid } from './kit/db/faults.ts';
import type { Logger } from './kit/log.ts';
import { Problem } from './kit/problem.ts';
import { endOperator, makeOwnerLink, makeResetLink, makeWelcomeLink } from './people/index.ts';
import { bootstrap, createOperatorKey, isKeyOf } from './projects/index.ts';

/**
 * On an empty database: the first project, and its key on the terminal or, without one, in a file that only its owner can read. The file has
 * another name until the key is known to be stored: a start that does not learn it leaves that to the next one.
 */
export async function makeFirstKey(config: Config, url: string, say: (line: string) => void): Promise<void> {
  const isTerminal = process.stderr.isTTY;
  const path = join(config.dataDir, 'first-api-key');
  let kept: string | undefined;
  const keep = async (apiKey: string): Promise<void> => {
    if (!isTerminal) await writeUnfinished(path, apiKey);
    kept = apiKey;
  };
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc first start' });
  try {
    const { apiKey } = await bootstrap(database, { givenKey: config.bootstrapApiKey, keep });
    if (apiKey !== undefined && isTerminal)
      say(`\nThis is the first API key of project "default". It is shown only now:\n\n  ${apiKey}\n`);
    kept = undefined;
    await finishKey(database, path, say);
  } catch (error) {
    if (kept !== undefined && error instanceof Problem && isUnsaid(error))
      say(
        isTerminal
          ? `\nThe database did not say whether it stored this first API key of project "default". It may be valid, and is shown only now:\n\n  ${kept}\n`
          : `The database did not say whether it stored the first API key of project "default". It may be valid, and is in ${unfinished(path)}; svc looks once the database answers.`,
      );
    else if (kept !== undefined) await rm(unfinished(path), { force: true });
    throw error;
  } finally {
    await database.close();
  }
}

/** A key that was written before its commit gets its name if it is stored; otherwise it is of no use. */
async function finishKey(database: Database, path: string, say: (line: string) => void): Promise<void> {
  const written = await readFile(unfinished(path), 'utf8').catch(() => undefined);
  if (written === undefined) return;
  if (!(await isKeyOf(database, written.trim()))) {
    await rm(unfinished(path), { force: true });
    return;
  }
  const aside = await setAside(path);
  if (aside !== undefined) say(`The key of another database that was in ${path} is in ${aside} now.`);
  await rename(unfinished(path), path);
  say(`The first API key of project "default" is in ${path}; move it to a safe place.`);
}

const unfinished = (path: string): string => `${path}.unfinished`;

/** In a file that only its owner can read, whole or not at all. */
async function keepSecret(path: string, secret: string): Promise<void> {
  await writeUnfinished(path, secret);
  await rename(unfinished(path), path).catch(unwritten(path));
}

/** The file under the name that it has until it is finished; nothing is there when it could not be written. */
async function writeUnfinished(path: string, secret: string): Promise<void> {
  const file = unfinished(path);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(file, `${secret}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  } catch (error) {
    await unwritten(path)(error);
  }
}

const unwritten =
  (path: string) =>
  async (cause: unknown): Promise<never> => {
    await rm(unfinished(path), { force: true }).catch(() => undefined);
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
