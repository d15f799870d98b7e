import { answerOf, Svc, SvcError } from '../../ui/client/src/index.ts';
import { secretGiven } from './ask-secret.ts';
import {
  addressOf,
  fromSvc,
  isKeyLike,
  profileName,
  readProfiles,
  writeProfiles,
  type ConnectionOptions,
} from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { say } from './output.ts';

/** `svc login`: keeps an API key with its server and project, once the server knows it. */
export async function login(options: ConnectionOptions): Promise<void> {
  const { url, project } = await addressOf(options, { isMade: true });
  const apiKey = (await secretGiven(`API key for ${url}: `)).trim();
  if (!isKeyLike(apiKey))
    throw new Failure(
      apiKey === ''
        ? 'No API key was given.'
        : 'That is no API key: it has blanks, lines or letters that no key has.',
      'Type it when asked, or pipe it in: svc login < key.txt',
      exitCodes.usage,
    );
  await check(new Svc({ baseUrl: url, project, apiKey, retries: 1, fetch: fromSvc() }), project);
  const name = profileName(options);
  await writeProfiles({ ...(await readProfiles()), [name]: { url, project, apiKey } });
  say(options, { profile: name, url, project }, `Logged in to ${url}, project ${project} (profile ${name}).`);
}

/** `svc logout`: forgets a profile. The key stays valid. */
export async function logout(options: ConnectionOptions): Promise<void> {
  const name = profileName(options);
  const { [name]: forgotten, ...others } = await readProfiles();
  if (!forgotten)
    throw new Failure(
      `There is no profile ${name}.`,
      Object.keys(others).length === 0
        ? 'No profile is kept: there is nothing to forget.'
        : `Name one that is kept by --profile: ${Object.keys(others).join(', ')}.`,
    );
  await writeProfiles(others);
  say(
    options,
    { profile: name },
    `Forgot the profile ${name}. Its key is still valid: delete it in svc if nobody needs it.`,
  );
}

/** Throws unless the server knows the key and its project; a key that may not look at the project is known. */
async function check({ api }: Svc, projectIdOrName: string): Promise<void> {
  const path = { projectIdOrName };
  await answerOf(api.GET('/v1/projects/{projectIdOrName}', { params: { path } })).catch((error: unknown) => {
    if (!(error instanceof SvcError && error.code === 'forbidden')) throw error;
  });
}
