import { actAs, record } from '../events/index.ts';
import type { Database, Queryable } from '../kit/db/database.ts';
import { isId, newId } from '../kit/ids.ts';
import {
  generateApiKey,
  hashSecret,
  parseApiKey,
  partsOfGiven,
  secretFits,
  type KeyParts,
} from './keys/key-form.ts';
import { insertApiKey, loadApiKeys, type NewApiKey } from './keys/api-key-store.ts';
import { instanceScopes } from './schema.ts';
import * as store from './store.ts';

export interface Bootstrapped {
  created: boolean;
  /** The key that was made, to be shown once; absent when it was given or nothing was made. */
  apiKey?: string;
  projectId: string;
}

export interface BootstrapOptions {
  /** The first key, instead of one that is made. */
  givenKey?: string | undefined;
  /** Keeps the key that was made for the project. Called before the commit: when it throws, no key exists. Where the commit is unsaid, it may. */
  keep?: (apiKey: string, projectId: string) => Promise<void>;
}

/**
 * Gives an empty database the project `default` with one key that may do everything; changes nothing in any other.
 * Throws an Error when the given key cannot be a key.
 */
export async function bootstrap(
  database: Database,
  { givenKey, keep }: BootstrapOptions = {},
): Promise<Bootstrapped> {
  const given = givenKey === undefined ? undefined : partsOfGiven(givenKey);
  return asOperator(database, async (tx) => {
    await store.lockBootstrap(tx);
    const existing = await store.findOldestProject(tx);
    if (existing) return { created: false, projectId: existing.id };
    const { id } = await store.insertProject(tx, { id: newId(), name: 'default', appName: 'default' });
    await record(tx, { projectId: id, action: 'project.created', targetId: id });
    const made = given ? undefined : generateApiKey();
    await insertFullKey(tx, id, given ?? (made as KeyParts), 'first key');
    if (made) await keep?.(made.key, id);
    return { created: true, projectId: id, ...(made ? { apiKey: made.key } : {}) };
  });
}

/** Of a key that was kept before its commit: it is stored, its project has it no more, or the database has no such project. */
export type KeptState = 'stored' | 'gone' | 'unknown';

/** Does what is to be done about a key that was kept before its commit, while no other node of the database does, and none makes one. */
export function settleKept(
  database: Database,
  { projectId, apiKey }: { projectId: string; apiKey: string },
  settle: (state: KeptState) => Promise<void>,
): Promise<void> {
  return database.transaction(async (tx) => {
    await store.lockBootstrap(tx);
    if (await isKeyOf(tx, apiKey)) return settle('stored');
    return settle((await store.findProject(tx, projectId)) ? 'gone' : 'unknown');
  });
}

async function isKeyOf(tx: Queryable, text: string): Promise<boolean> {
  const parts = parseApiKey(text);
  if (!parts) return false;
  const stored = (await loadApiKeys(tx, [parts.id])).get(parts.id);
  return stored !== undefined && secretFits(parts.secret, stored.secret_hash);
}

/** Makes a key for somebody with a shell on the server, an operator, that may do everything: of the first project unless named. */
export async function createOperatorKey(
  database: Database,
  { label, project: idOrName }: { label: string; project?: string | undefined },
  place = 'the database',
): Promise<{ key: string; projectName: string }> {
  return asOperator(database, async (tx) => {
    const project =
      idOrName === undefined ? await store.findOldestProject(tx) : await findNamed(tx, idOrName);
    if (!project)
      throw new Error(
        `there is no project ${idOrName ?? 'yet'} in ${place}${idOrName ? '' : '; start svc there once'}`,
      );
    const made = generateApiKey();
    await insertFullKey(tx, project.id, made, label);
    return { key: made.key, projectName: project.name };
  });
}

function findNamed(tx: Queryable, idOrName: string) {
  return isId(idOrName) ? store.findProject(tx, idOrName) : store.findProjectByName(tx, idOrName);
}

async function insertFullKey(
  tx: Queryable,
  projectId: string,
  { id, secret }: KeyParts,
  label: string,
): Promise<void> {
  const scopes: NewApiKey['scopes'] = ['full', ...instanceScopes];
  await insertApiKey(tx, projectId, { id, secretHash: hashSecret(secret), label, scopes });
  await record(tx, { projectId, action: 'apiKey.created', targetId: id, details: { label, scopes } });
}

function asOperator<T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return actAs({ kind: 'operator' }, () => database.transaction(work));
}
