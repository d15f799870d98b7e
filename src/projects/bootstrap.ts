import type { Database } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { generateApiKey, hashSecret, parseApiKey } from './keys/key-form.ts';
import { insertApiKey, type NewApiKey } from './keys/api-key-store.ts';
import { instanceScopes } from './schema.ts';
import * as store from './store.ts';

export interface Bootstrapped {
  created: boolean;
  /** The key that was made, to be shown once; absent when it was given or nothing was made. */
  apiKey?: string;
  projectId: string;
}

/**
 * Gives an empty database the project `default` with one full key; changes nothing in any other.
 * Throws an Error when the given key cannot be a key.
 */
export async function bootstrap(database: Database, givenKey?: string): Promise<Bootstrapped> {
  const given = givenKey === undefined ? undefined : parseApiKey(givenKey);
  if (givenKey !== undefined && !given) {
    throw new Error(
      'SVC_BOOTSTRAP_API_KEY is not a well-formed API key (svc_<key id>_<30 characters><6 of checksum>)',
    );
  }
  return database.transaction(async (tx) => {
    await store.lockBootstrap(tx);
    const existing = await store.findOldestProject(tx);
    if (existing) return { created: false, projectId: existing.id };
    const project = await store.insertProject(tx, { id: newId(), name: 'default', appName: 'default' });
    const { id, secret, key }: { id: string; secret: string; key?: string } = given ?? generateApiKey();
    const first: NewApiKey = {
      id,
      secretHash: hashSecret(secret),
      label: 'first key',
      scopes: ['full', ...instanceScopes],
    };
    await insertApiKey(tx, project.id, first);
    return { created: true, projectId: project.id, ...(key === undefined ? {} : { apiKey: key }) };
  });
}
