import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { answerOf, Svc, SvcError } from '../../../ui/client/src/index.ts';
import { isKeyLike } from '../connection.ts';
import { Failure } from '../failure.ts';
import { tell } from '../output.ts';
import { whyUnread } from '../plain.ts';
import { writeSecret } from '../text-file.ts';

/** The key of the environment or of the file, whichever the server takes; where it takes none, a new one, which the file keeps. */
export async function ownKey(url: string, path: string, env: NodeJS.ProcessEnv): Promise<string> {
  for (const key of [env['SVC_BOOTSTRAP_API_KEY'] ?? '', await keptIn(path)])
    if (isKeyLike(key) && (await isTaken(url, key))) return key;
  const key = await makeKey(env);
  await writeSecret(path, `${key}\n`, 'Name another folder: --data-dir .svc/dev.');
  tell(`The server takes no key that is kept here: a new one was made, and is in ${path}.`);
  return key;
}

async function keptIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new Failure(`${path} cannot be read: ${whyUnread(error)}.`, 'Let this user read it.');
  });
  return text.trim();
}

async function isTaken(baseUrl: string, apiKey: string): Promise<boolean> {
  const project = 'default';
  const { api } = new Svc({ baseUrl, project, apiKey });
  try {
    const params = { path: { projectIdOrName: project } };
    await answerOf(api.GET('/v1/projects/{projectIdOrName}', { params }));
    return true;
  } catch (error) {
    if (error instanceof SvcError && error.status === 401) return false;
    throw error;
  }
}

/** By this program, in the database of the server. */
async function makeKey(env: NodeJS.ProcessEnv): Promise<string> {
  const [, self = ''] = process.argv;
  const words = [self, 'operator-keys', 'create', '--full', '--label', 'svc dev', '--project', 'default'];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    return stdout.trim();
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Failure(
      `The server takes no key that is kept here, and no new one could be made: ${stderr.trim()}`,
      'Correct that and run the command again.',
    );
  }
}
