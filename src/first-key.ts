import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publicUrlOf, type Config } from './config.ts';
import { openDatabase } from './kit/db/database.ts';
import type { Logger } from './kit/log.ts';
import { makeOwnerLink, makeResetLink, makeWelcomeLink } from './people/index.ts';
import { bootstrap, createOperatorKey } from './projects/index.ts';

/** On an empty database: the first project, and its key on the terminal or, without one, in a file that only its owner can read. */
export async function makeFirstKey(config: Config, url: string, say: (line: string) => void): Promise<void> {
  const isTerminal = process.stderr.isTTY;
  const path = join(config.dataDir, 'first-api-key');
  let isWritten = false;
  const keep = async (apiKey: string): Promise<void> => {
    if (isTerminal) return;
    await keepSecret(path, apiKey, async () => {
      const aside = await setAside(path);
      if (aside !== undefined) say(`The key of another database that was in ${path} is in ${aside} now.`);
    });
    isWritten = true;
  };
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc first start' });
  try {
    const { apiKey } = await bootstrap(database, { givenKey: config.bootstrapApiKey, keep });
    if (!apiKey) return;
    say(
      isTerminal
        ? `\nThis is the first API key of project "default". It is shown only now:\n\n  ${apiKey}\n`
        : `The first API key of project "default" is in ${path}; move it to a safe place.`,
    );
  } catch (error) {
    // The key was not committed; the file is useless.
    if (isWritten) await rm(path, { force: true });
    throw error;
  } finally {
    await database.close();
  }
}

/** In a file that only its owner can read, whole or not at all. */
async function keepSecret(
  path: string,
  secret: string,
  beforeItStands: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const unfinished = `${path}.unfinished`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(unfinished, `${secret}\n`, { mode: 0o600 });
    await chmod(unfinished, 0o600);
    await beforeItStands();
    await rename(unfinished, path);
  } catch (cause) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const remedy = 'make room there, or set SVC_DATA_DIR to a folder that this user may write to';
    throw new Error(`${path} could not be written (${remedy})`, { cause });
  }
}

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
