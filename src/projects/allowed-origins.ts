import { createCache } from '../kit/cache.ts';
import type { Database } from '../kit/db/database.ts';
import { isDatabaseAway } from '../kit/db/faults.ts';
import { isWebOrigin } from '../kit/web-origin.ts';
import { refuse } from '../kit/problem.ts';
import { loadAllowedOrigins } from './store.ts';

/** Which pages may call from a browser, by their origin. */
export interface AllowedOrigins {
  /** Without `projectIdOrName` the request names no project, and an origin of any project is allowed; credentials decide what it reaches. */
  allows(origin: string, projectIdOrName?: string): Promise<boolean>;
  /** The origins of a project, with those of the operator. */
  of(projectIdOrName: string): Promise<string[]>;
  /** The lists were changed here. */
  forget(): void;
  close(): void;
}

/** One entry for the whole service, so that an invented origin or project costs no SQL. */
const all = 'all';

/** `everywhere`: origins that the operator allows for every project. */
export function createAllowedOrigins(database: Database, everywhere: readonly string[]): AllowedOrigins {
  const cache = createCache({
    load: async () => new Map([[all, byProject(await loadAllowedOrigins(database))]]),
  });
  return {
    async allows(origin, projectIdOrName) {
      if (everywhere.includes(origin)) return true;
      if (!isWebOrigin(origin)) return false;
      const lists = await cache.get(all).catch((error: unknown) => {
        // The request itself is answered with the fault.
        if (isDatabaseAway(error)) return undefined;
        throw error;
      });
      if (projectIdOrName !== undefined)
        return lists?.get(projectIdOrName.toLowerCase())?.has(origin) ?? false;
      return [...(lists?.values() ?? [])].some((list) => list.has(origin));
    },
    of: async (projectIdOrName) => [
      ...everywhere,
      ...((await cache.get(all))?.get(projectIdOrName.toLowerCase()) ?? []),
    ],
    forget: () => cache.invalidate(all),
    close: () => cache.close(),
  };
}

function byProject(
  projects: readonly { id: string; name: string; origins: readonly string[] }[],
): Map<string, ReadonlySet<string>> {
  return new Map(
    projects.flatMap(({ id, name, origins }) => {
      // An older release took wildcards and what ends a directive of a policy.
      const list = new Set(origins.filter(isWebOrigin));
      return [id, name.toLowerCase()].map((key): [string, ReadonlySet<string>] => [key, list]);
    }),
  );
}

/** Throws invalid-request for a text that no browser sends as an origin. */
export function checkOrigins(origins: readonly string[]): void {
  const issues = origins.flatMap((value, index) => {
    if (isWebOrigin(value)) return [];
    const name = `project.allowedOrigins[${index}]`;
    return [{ in: 'body' as const, name, detail: `must be an origin, ${originForm}`, value }];
  });
  if (issues.length > 0) throw refuse(issues);
}

const originForm = 'such as https://app.example.com: scheme, host and port, in lower case and without a path';
