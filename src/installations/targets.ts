import { createCache } from '../kit/cache.ts';
import type { Database, Queryable } from '../kit/db/database.ts';
import { isId } from '../kit/ids.ts';
import type { ConnectionStatus } from '../connections/schema.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { ConfigContent } from './config/schema.ts';
import { manifestFor } from './manifest-for.ts';
import { healthOf, type Health } from './present.ts';
import { loadTargetRows, type TargetKey, type TargetRow } from './targets-store.ts';

/** What an action needs of an installation. */
export interface Target {
  projectId: string;
  integrationId: string;
  integrationName: string;
  provider: string;
  /** The latest revision of the integration, and what it declares for this installation. */
  revisionId: string;
  manifest: ManifestIntegration;
  installationId: string;
  groupRef: string;
  configId: string;
  content: ConfigContent;
  connectionId: string;
  /** Undefined: the connection is gone. */
  connectionStatus: ConnectionStatus | undefined;
  /** Why it is not usable. */
  connectionDetail: string | undefined;
  /** It is used by another server since an export. */
  connectionIsMoved: boolean;
  healthStatus: Health;
}

/** Names an installation; `integration` is an id or a name. */
export type TargetSelector = { installationId: string } | { integration: string; groupRef: string };

export interface Targets {
  find(projectId: string, selector: TargetSelector): Promise<Target | undefined>;
  /** Reads the current state; the remembered one serves only while the database is away. */
  refresh(projectId: string, selector: TargetSelector): Promise<Target | undefined>;
  /** Without waiting; undefined means: ask {@link find}. */
  peek(projectId: string, selector: TargetSelector): Target | undefined;
  /** The next look reads the installation again, under each of its keys. */
  forget(target: {
    projectId: string;
    installationId: string;
    integrationId: string;
    integrationName: string;
    groupRef: string;
  }): void;
  close(): void;
}

/** Reads the state as the next statement of the transaction finds it, past what is remembered. */
export async function targetIn(
  tx: Queryable,
  projectId: string,
  installationId: string,
): Promise<Target | undefined> {
  const [row] = await loadTargetRows(tx, [{ projectId, installationId }]);
  return row && targetOf(row);
}

/** How old a target may be on any node that reaches the database. */
export const targetAgeMs = 2_000;

/** Targets by installation, and by integration and group. */
export function createTargets(database: Database): Targets {
  const cache = createCache<Target>({
    maxAgeMs: targetAgeMs,
    load: async (keys) => {
      const rows = await loadTargetRows(database, keys.map(parseKey));
      return new Map(rows.map((row) => [keys[row.slot - 1] ?? '', targetOf(row)]));
    },
  });
  return {
    find: async (projectId, selector) => {
      const key = keyOf(projectId, selector);
      return key === undefined ? undefined : cache.get(key);
    },
    refresh: async (projectId, selector) => {
      const key = keyOf(projectId, selector);
      if (key === undefined) return undefined;
      cache.expire(key);
      return cache.get(key);
    },
    peek: (projectId, selector) => {
      const key = keyOf(projectId, selector);
      return key === undefined ? undefined : cache.peek(key);
    },
    forget: ({ projectId, installationId, integrationId, integrationName, groupRef }) => {
      const selectors = [
        { installationId },
        { integration: integrationId, groupRef },
        { integration: integrationName, groupRef },
      ];
      for (const selector of selectors) cache.invalidate(keyOf(projectId, selector) ?? '');
    },
    close: () => cache.close(),
  };
}

// PostgreSQL's text has no NUL, so no name contains the separator.
const separator = '\0';

/** Undefined when nothing can be stored under such a selector. */
function keyOf(projectId: string, selector: TargetSelector): string | undefined {
  if ('installationId' in selector) {
    return isId(selector.installationId) ? projectId + separator + selector.installationId : undefined;
  }
  const { integration, groupRef } = selector;
  if (integration.includes(separator) || groupRef.includes(separator)) return undefined;
  return projectId + separator + integration + separator + groupRef;
}

function parseKey(key: string): TargetKey {
  const [projectId = '', first = '', groupRef] = key.split(separator);
  if (groupRef === undefined) return { projectId, installationId: first };
  return { projectId, groupRef, ...(isId(first) ? { integrationId: first } : { integrationName: first }) };
}

function targetOf(row: TargetRow): Target {
  return {
    projectId: row.project_id,
    integrationId: row.integration_id,
    integrationName: row.integration_name,
    provider: row.provider,
    revisionId: row.revision_id,
    manifest: manifestFor({ content: row.manifest, retained: row.retained ?? [] }, row),
    installationId: row.installation_id,
    groupRef: row.group_ref,
    configId: row.config_id,
    content: row.content,
    connectionId: row.connection_id,
    connectionStatus: row.connection_status ?? undefined,
    connectionDetail: row.connection_detail ?? undefined,
    connectionIsMoved: row.connection_is_moved,
    healthStatus: healthOf(row),
  };
}
