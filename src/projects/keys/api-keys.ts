import { createCache } from '../../kit/cache.ts';
import { record } from '../../events/index.ts';
import { keyChanged } from './key-changed.ts';
import type { Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { createLookup } from '../../kit/lookup.ts';
import { problem } from '../../kit/problem.ts';
import type { Principal } from '../auth/principal.ts';
import type { ApiKey, Scope } from '../schema.ts';
import { generateApiKey, hashSecret, parseApiKey, parseGivenKey } from './key-form.ts';
import * as store from './api-key-store.ts';
import { createProving } from './proving.ts';
import { createUseLog } from '../../kit/use-log.ts';

interface GivenApiKey {
  label: string;
  scopes: readonly Scope[];
  groupRef?: string;
  expiresAt?: string;
}

export interface ApiKeys {
  /** The principal of a key, without SQL while it is fresh. Throws unauthenticated. */
  authenticate(key: string): Promise<Principal>;
  /** The same without waiting; undefined means: ask {@link authenticate}. */
  peek(key: string): Principal | undefined;
  /** The key by its id while it is active, without SQL while it is fresh. */
  holding(id: string): Promise<store.ApiKeyRecord | undefined>;
  /** `key` is shown in this answer and nowhere else. */
  create(projectId: string, given: GivenApiKey, tx?: Queryable): Promise<ApiKey>;
  list(projectId: string, active?: boolean): Promise<ApiKey[]>;
  get(projectId: string, id: string): Promise<ApiKey>;
  update(projectId: string, id: string, change: store.ApiKeyChange): Promise<ApiKey>;
  delete(projectId: string, id: string): Promise<void>;
  /** After a change of what the keys of a project carry, or of which there are. */
  forgetProject(projectId: string): void;
  close(): Promise<void>;
}

const malformed =
  'The API key is not well-formed; a key starts with svc_ and ends with its checksum. Was it cut?';

/** The keys of all projects. A change holds at once on this node, and on the others within the age of the cache. */
export function createApiKeys(ground: Pick<Ground, 'database' | 'log'>): ApiKeys {
  const { database } = ground;
  const uses = createUseLog(ground, store.touchApiKeys);
  const load = createLookup((ids) => store.loadApiKeys(database, ids));
  const cache = createCache({ load });
  const proving = createProving(cache, uses);

  async function listKeys(projectId: string, active?: boolean): Promise<ApiKey[]> {
    return store.listApiKeys(database, projectId, active);
  }

  return {
    async authenticate(key) {
      const parts = parseApiKey(key) ?? parseGivenKey(key);
      if (!parts) throw problem('unauthenticated', { detail: malformed });
      const principal = proving.prove(key, parts, await cache.get(parts.id));
      if (principal) return principal;
      throw problem('unauthenticated', { detail: 'The API key is unknown, deleted, expired or not active.' });
    },
    peek: (key) => proving.peek(key),
    async holding(id) {
      const known = await cache.get(id);
      return known?.active ? known : undefined;
    },
    async create(projectId, given, tx) {
      if (!tx) return database.transaction(async (own) => createApiKey(own, projectId, given));
      return createApiKey(tx, projectId, given);
    },
    list: listKeys,
    get: async (projectId, id) => (await store.getApiKey(database, projectId, id)) ?? absent(id),
    async update(projectId, id, change) {
      const updated = await database.transaction((tx) => updateKey(tx, projectId, id, change));
      cache.invalidate(id);
      return updated;
    },
    async delete(projectId, id) {
      await database.transaction(async (tx) => {
        const details = (await store.deleteApiKey(tx, projectId, id)) ?? absent(id);
        await record(tx, { projectId, action: 'apiKey.deleted', targetId: id, details });
      });
      cache.invalidate(id);
    },
    forgetProject(projectId) {
      load.forgetAbsent();
      cache.invalidateWhere(({ project_id }) => project_id === projectId);
    },
    close: async () => {
      cache.close();
      await uses.close();
    },
  };
}

/** Makes a key in the transaction, and shows it. */
async function createApiKey(tx: Queryable, projectId: string, given: GivenApiKey): Promise<ApiKey> {
  const { id, secret, key } = generateApiKey();
  const scopes = [...new Set(given.scopes)];
  const made = await store.insertApiKey(tx, projectId, {
    ...given,
    id,
    secretHash: hashSecret(secret),
    scopes,
  });
  await record(tx, { projectId, action: 'apiKey.created', targetId: id, details: { ...given, scopes } });
  return { ...made, key };
}

async function updateKey(
  tx: Queryable,
  projectId: string,
  id: string,
  change: store.ApiKeyChange,
): Promise<ApiKey> {
  const before = (await store.getApiKey(tx, projectId, id)) ?? absent(id);
  const after = (await store.updateApiKey(tx, projectId, id, change)) ?? absent(id);
  const details = { groupRef: after.groupRef, label: after.label, ...keyChanged(before, after) };
  await record(tx, { projectId, action: 'apiKey.updated', targetId: id, details });
  return after;
}

function absent(id: string): never {
  throw problem('not-found', {
    detail: `There is no API key with the id ${JSON.stringify(id.slice(0, 64))} in this project.`,
  });
}
