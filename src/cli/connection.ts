import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Svc, SvcError, type ConnectOptions } from '../../ui/client/src/index.ts';
import { exitCodes, Failure } from './failure.ts';
import { whyUnread } from './plain.ts';
import { writeSecret } from './text-file.ts';

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
    throw unreadable(path, whyUnread(error));
  });
  try {
    const profiles: unknown = JSON.parse(text);
    if (isProfiles(profiles)) return profiles;
  } catch (error) {
    throw unreadable(path, (error as Error).message);
  }
  throw unreadable(path, 'it holds no profiles');
}

function isProfiles(value: unknown): value is Record<string, Profile> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one: Partial<Profile> | null) =>
    [one?.url, one?.project, one?.apiKey].every((member) => typeof member === 'string'),
  );
}

/** Keeps the profiles where nobody else can read them, whole or not at all. */
export async function writeProfiles(profiles: Record<string, Profile>): Promise<void> {
  await writeSecret(
    profilesPath(),
    `${JSON.stringify(profiles, null, 2)}\n`,
    'Let this user write there, or set XDG_CONFIG_HOME to another folder.',
  );
}

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

/** An address as a browser shows it, too: with a slash at its end, or with the /v1 of each path. `source`: who says so. */
export function addressIn(text: string, source: string): string {
  const { username, search, hash } = isHttpUrl(text)
    ? new URL(text)
    : { username: '-', search: '', hash: '' };
  if (`${username}${search}${hash}` === '') return text.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new Failure(
    `${source} is ${text === '' ? 'nothing' : text}, which is not the address of a server.`,
    `Give one such as ${defaultUrl}.`,
    exitCodes.usage,
  );
}

/** What may stand in a header: everything else was cut, pasted with more, or never was a key. */
export function isKeyLike(text: string): boolean {
  return /^[!-~]+$/.test(text);
}

/**
 * Options go before the environment, and that before the profile; one that `--profile` names goes before the environment, too,
 * unless `isMade`: it is being made.
 */
export async function addressOf(
  options: ConnectionOptions,
  { isMade = false } = {},
): Promise<{ url: string; project: string; profile?: Profile }> {
  const profiles = await readProfiles();
  const profile = profiles[profileName(options)];
  const isNamed = options.profile !== undefined && !isMade;
  if (isNamed && !profile) throw noProfile(profileName(options), Object.keys(profiles));
  const { SVC_API_URL, SVC_PROJECT } = isNamed ? {} : process.env;
  const url =
    options.url === undefined
      ? addressIn(SVC_API_URL || profile?.url || defaultUrl, SVC_API_URL ? 'SVC_API_URL' : 'The profile')
      : addressIn(options.url, '--url');
  const project = options.project ?? (SVC_PROJECT || profile?.project || 'default');
  return { url, project, ...(profile ? { profile } : {}) };
}

/** The server, the project and the key. A key is sent to the server that it was kept for and to no other. */
export async function credentialsOf(options: ConnectionOptions): Promise<Profile> {
  const { url, project, profile } = await addressOf(options);
  const kept = profile && addressIn(profile.url, 'The profile') === url ? profile.apiKey : undefined;
  const told = process.env['SVC_API_KEY'];
  const apiKey = options.profile === undefined ? told || kept : kept || told;
  if (!apiKey) {
    const name = profileName(options);
    throw profile || name === defaultProfile
      ? noKey(`There is no API key for ${url}.`, 'Run `svc login`, or set SVC_API_KEY.')
      : noProfile(name);
  }
  if (!isKeyLike(apiKey))
    throw noKey(
      'That is no API key: it has blanks, lines or letters that no key has.',
      'Set SVC_API_KEY anew.',
    );
  return { url, project, apiKey };
}

function noKey(message: string, remedy: string): Failure {
  return new Failure(message, remedy, exitCodes.credentials);
}

function noProfile(name: string, others: readonly string[] = []): Failure {
  const there = others.length > 0 ? ` What is there: ${others.toSorted().join(', ')}.` : '';
  return noKey(`There is no profile ${name}.`, `Make it by \`svc login --profile ${name}\`.${there}`);
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
  return new Svc({ baseUrl: url, project, apiKey, ...patience, fetch: fromSvc(patience.fetch) });
}

/** What svc puts on every answer; a proxy in between may take one of them away. */
const signs = ['x-request-id', 'x-content-type-options'];

/** Another service that answers JSON is told from svc before anything of its answer is taken for one. */
export function fromSvc(ask: NonNullable<ConnectOptions['fetch']> = globalThis.fetch): typeof ask {
  return async (url, sent) => {
    const answer = await ask(url, sent);
    if (!answer.ok || signs.some((name) => answer.headers.has(name))) return answer;
    throw new SvcError({
      code: 'unexpected-answer',
      status: answer.status,
      detail: `What answers at ${new URL(url).origin} is not svc.`,
    });
  };
}

function unreadable(path: string, why: string): Failure {
  return new Failure(
    `${path} cannot be read: ${why}.`,
    'Mend it, or delete it and run `svc login` again.',
    exitCodes.usage,
  );
}
