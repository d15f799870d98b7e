import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Svc, type ConnectOptions } from '../../ui/client/src/index.ts';
import { exitCodes, Failure } from './failure.ts';

/** Where a command goes, and as whom. */
export interface Profile {
  url: string;
  project: string;
  apiKey: string;
}

/** The options that every command which calls svc has. */
export interface ConnectionOptions {
  url?: string;
  project?: string;
  profile?: string;
  json?: boolean;
}

const defaultUrl = 'http://127.0.0.1:4000';
const defaultProfile = 'default';

/** Where profiles are kept. */
export function profilesPath(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'svc', 'profiles.json');
}

export function profileName({ profile }: ConnectionOptions): string {
  return profile ?? (process.env['SVC_PROFILE'] || defaultProfile);
}

export async function readProfiles(): Promise<Record<string, Profile>> {
  const path = profilesPath();
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw unreadable(path, error.message);
  });
  try {
    return JSON.parse(text) as Record<string, Profile>;
  } catch (error) {
    throw unreadable(path, (error as Error).message);
  }
}

/** Keeps the profiles where nobody else can read them, whole or not at all. */
export async function writeProfiles(profiles: Record<string, Profile>): Promise<void> {
  const path = profilesPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, path);
}

/** Options go before the environment, and that before the profile. */
export async function addressOf(
  options: ConnectionOptions,
): Promise<{ url: string; project: string; profile?: Profile }> {
  const profile = (await readProfiles())[profileName(options)];
  const { SVC_API_URL, SVC_PROJECT } = process.env;
  const url = options.url ?? (SVC_API_URL || profile?.url || defaultUrl);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Failure(
      `${url} is not the address of a server.`,
      `Give one such as ${defaultUrl}.`,
      exitCodes.usage,
    );
  const project = options.project ?? (SVC_PROJECT || profile?.project || 'default');
  return { url, project, ...(profile ? { profile } : {}) };
}

/** The server, the project and the key. A key is sent to the server that it was kept for and to no other. */
export async function credentialsOf(options: ConnectionOptions): Promise<Profile> {
  const { url, project, profile } = await addressOf(options);
  const kept = profile?.url === url ? profile.apiKey : undefined;
  const apiKey = process.env['SVC_API_KEY'] || kept;
  if (!apiKey)
    throw new Failure(
      `There is no API key for ${url}.`,
      'Run `svc login`, or set SVC_API_KEY.',
      exitCodes.credentials,
    );
  return { url, project, apiKey };
}

/** The client that a command calls svc with. */
export async function connect(
  options: ConnectionOptions,
  patience: Pick<ConnectOptions, 'retries' | 'retryWithinMs' | 'timeoutMs' | 'fetch'> = {
    retries: 2,
    retryWithinMs: 10_000,
  },
): Promise<Svc> {
  const { url, project, apiKey } = await credentialsOf(options);
  return new Svc({ baseUrl: url, project, apiKey, ...patience });
}

function unreadable(path: string, why: string): Failure {
  return new Failure(
    `${path} cannot be read: ${why}.`,
    'Mend it, or delete it and run `svc login` again.',
    exitCodes.usage,
  );
}
