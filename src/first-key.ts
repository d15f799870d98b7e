import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { openDatabase } from './kit/db/database.ts';
import { bootstrap, createOperatorKey } from './projects/index.ts';

/** On an empty database: the first project, and its key on the terminal or, without one, in a file that only its owner can read. */
export async function makeFirstKey(config: Config, url: string, say: (line: string) => void): Promise<void> {
  const isTerminal = process.stderr.isTTY;
  const path = join(config.dataDir, 'first-api-key');
  let isWritten = false;
  const keep = async (apiKey: string): Promise<void> => {
    if (isTerminal) return;
    await mkdir(config.dataDir, { recursive: true });
    await writeFile(path, `${apiKey}\n`, { mode: 0o600 });
    isWritten = true;
    await chmod(path, 0o600);
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
