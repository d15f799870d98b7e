import { createCache, type Cache } from '../../kit/cache.ts';
import type { Ground } from '../../kit/ground.ts';
import { storedId } from '../../kit/ids.ts';
import { problem } from '../../kit/problem.ts';
import type { Catalog } from '../../providers/index.ts';
import {
  credentialOf,
  openSecrets,
  refreshMarginMs,
  restMs,
  type Credential,
  type Secrets,
} from '../credentials/index.ts';
import { readConnections, whoseOf, type ConnectionKey, type ConnectionRow } from '../store.ts';

/** A connection as kept in memory: opened once per change of its row, by a clock that does not jump. */
export interface Held {
  readonly row: ConnectionRow;
  /** Opened at first use. Throws when the stored value was moved or tampered with. */
  secrets(): Secrets;
  /** Throws credentials-rejected when the stored API address is not one of the provider's. */
  credential(): Credential;
  isExpired(): boolean;
  /** Within the margin before its end: worth a refresh, still worth using if that fails. */
  isDue(): boolean;
  /** A 401 asked for the access token just now: another one is not about its age. */
  isResting(): boolean;
}

export interface HeldCache {
  /** Without waiting, when it is fresh. */
  peek(key: ConnectionKey): Held | undefined;
  get(key: ConnectionKey): Promise<Held | undefined>;
  invalidate(key: ConnectionKey): void;
  /** The next get asks again. With the database away the old value still serves. */
  expire(key: ConnectionKey): void;
  close(): void;
}

const maxEntries = 10_000;
/** How old a connection in memory may be on any node that reaches the database. */
export const heldAgeMs = 2_000;

/** What was opened of one version of a row; shared by the readings of it. */
interface Opened {
  version: string;
  isToldShut?: boolean;
  secrets?: Secrets;
  credential?: Credential;
}

/** Connections in use, read again once a second; what did not change is not opened again. */
export function createHeldCache(ground: Ground, catalog: Catalog): HeldCache {
  const openedByName = new Map<string, Opened>();

  function hold(row: ConnectionRow): Held {
    const name = nameOf([row.project_id, row.id]);
    const known = openedByName.get(name);
    const opened = known?.version === row.version ? known : { version: row.version };
    openedByName.delete(name);
    openedByName.set(name, opened);
    const oldest = openedByName.keys().next().value;
    if (openedByName.size > maxEntries && oldest !== undefined) openedByName.delete(oldest);
    return holdRow(ground, catalog, row, opened);
  }

  const cache: Cache<Held> = createCache({
    maxEntries,
    maxAgeMs: heldAgeMs,
    load: async (names) => {
      const rows = await readConnections(ground.database, names.map(keyOf));
      return new Map(rows.map((row) => [nameOf([row.project_id, row.id]), hold(row)]));
    },
  });

  return {
    peek: (key) => cache.peek(nameOf(key)),
    get: (key) => cache.get(nameOf(key)),
    invalidate: (key) => cache.invalidate(nameOf(key)),
    expire: (key) => cache.expire(nameOf(key)),
    close: () => cache.close(),
  };
}

/** Holds a row that was just read. */
export function holdRow(
  ground: Ground,
  catalog: Catalog,
  row: ConnectionRow,
  opened: Opened = { version: row.version },
): Held {
  // The database's clock says what is left, ours only counts it down.
  const endsAt = row.expires_in_ms === null ? Infinity : performance.now() + row.expires_in_ms;
  const dueAt = endsAt - marginOf(row);
  const restsUntil = performance.now() + restMs - (row.unauthorized_ms_ago ?? Infinity);
  function secrets(): Secrets {
    opened.secrets ??= openOrTell(ground, row, opened);
    return opened.secrets;
  }
  return {
    row,
    secrets,
    credential() {
      opened.credential ??= { ...credentialOf(catalog.get(row.provider), row, secrets()), ...expiryOf(row) };
      return opened.credential;
    },
    isExpired: () => performance.now() >= endsAt,
    isDue: () => performance.now() >= dueAt,
    isResting: () => performance.now() < restsUntil,
  };
}

/** Throws credentials-unreadable; the log says why, once for each version of the row. */
function openOrTell({ vault, log }: Ground, row: ConnectionRow, opened: Opened): Secrets {
  try {
    return openSecrets(vault, row.project_id, row.id, row.credentials);
  } catch (error) {
    if (!opened.isToldShut)
      log.error(
        {
          err: error,
          problem: 'credentials-unreadable',
          ...whoseOf(row),
        },
        'the credentials of a connection cannot be opened',
      );
    opened.isToldShut = true;
    throw problem('credentials-unreadable', {
      detail: `The credentials of the connection ${row.id} cannot be opened here; nothing was sent.`,
      cause: error,
    });
  }
}

function marginOf({ access_issued_at, access_expires_at }: ConnectionRow): number {
  if (!access_issued_at || !access_expires_at) return 0;
  return refreshMarginMs(access_expires_at.getTime() - access_issued_at.getTime());
}

function expiryOf(row: ConnectionRow): { expiresAt?: number } {
  return row.expires_in_ms === null ? {} : { expiresAt: Date.now() + row.expires_in_ms };
}

function nameOf([projectId, id]: ConnectionKey): string {
  return `${projectId}/${storedId(id)}`;
}

function keyOf(name: string): ConnectionKey {
  const [projectId = '', id = ''] = name.split('/');
  return [projectId, id];
}
