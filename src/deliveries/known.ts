import { createCache } from '../kit/cache.ts';
import type { Database } from '../kit/db/database.ts';
import { isId } from '../kit/ids.ts';
import { loadDestinations, type DestinationKey, type DestinationRow } from './store/destinations.ts';

/** How old a destination may be on any node that reaches the database. */
export const knownForMs = 2_000;

/** Destinations as they are remembered. */
export interface KnownDestinations {
  /** By id or name. */
  find(projectId: string, nameOrId: string): Promise<DestinationRow | undefined>;
  forget(row: Pick<DestinationRow, 'project_id' | 'id' | 'name'>): void;
  close(): void;
}

// PostgreSQL's text has no NUL, so no name contains the separator.
const separator = '\0';

export function createKnownDestinations(database: Database): KnownDestinations {
  const cache = createCache<DestinationRow>({
    maxAgeMs: knownForMs,
    load: async (keys) => {
      const rows = await loadDestinations(database, keys.map(parseKey));
      return new Map(rows.map(({ n, ...row }) => [keys[n - 1] ?? '', row]));
    },
  });
  return {
    find: async (projectId, nameOrId) =>
      nameOrId.includes(separator) ? undefined : cache.get(keyOf(projectId, nameOrId)),
    forget({ project_id: projectId, id, name }) {
      for (const key of [id, name]) cache.invalidate(keyOf(projectId, key));
    },
    close: () => cache.close(),
  };
}

function keyOf(projectId: string, nameOrId: string): string {
  return projectId + separator + nameOrId.toLowerCase();
}

function parseKey(key: string): DestinationKey {
  const [projectId = '', nameOrId = ''] = key.split(separator);
  return isId(nameOrId) ? { projectId, id: nameOrId } : { projectId, name: nameOrId };
}
