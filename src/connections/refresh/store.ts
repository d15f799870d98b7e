import { record } from '../../events/index.ts';
import type { Database, Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ProviderMetadata } from '../schema.ts';
import {
  holdConnection,
  told,
  toldIn,
  type ConnectionKey,
  type ConnectionRow,
  type ToldRow,
} from '../store.ts';

// One statement decides who refreshes: the generation must be the one that was found stale, and nobody may hold a lease.
const take = statement(
  'connections_lease',
  `UPDATE connection SET refresh_lease = $4, refresh_lease_until = svc_now() + $5::float8 * interval '1 ms'
   WHERE project_id = $1 AND id = $2 AND generation = $3::float8::bigint AND status <> 'bad_credentials'
     AND (refresh_lease IS NULL OR refresh_lease_until < svc_now())
     AND ($6::float8 IS NULL OR unauthorized_at IS NULL OR unauthorized_at < svc_now() - $6::float8 * interval '1 ms')
   RETURNING id`,
);

// Only while it is ours: nobody took it over.
const extend = statement(
  'connections_extend_lease',
  `UPDATE connection SET refresh_lease_until = svc_now() + $4::float8 * interval '1 ms'
   WHERE project_id = $1 AND id = $2 AND refresh_lease = $3 RETURNING id`,
);

const giveBack = statement(
  'connections_release',
  `UPDATE connection SET refresh_lease = NULL, refresh_lease_until = NULL
   WHERE project_id = $1 AND id = $2 AND refresh_lease = $3`,
);

// Committed before use, and only over the pair that it came for: under the lease, or when nobody has one any more.
const commit = statement(
  'connections_refreshed',
  `UPDATE connection c SET credentials = $4, generation = generation + 1, status = 'created', status_detail = NULL,
     scopes = coalesce($5::text[], scopes), provider_metadata = coalesce($6::json, provider_metadata),
     access_issued_at = svc_now() - $7::float8 * interval '1 ms', access_expires_at = svc_now() + $8::float8 * interval '1 ms',
     refresh_lease = NULL, refresh_lease_until = NULL, updated_at = svc_now(),
     unauthorized_at = CASE WHEN $10::boolean THEN svc_now() END
   WHERE project_id = $1 AND id = $2 AND generation = $9::float8::bigint AND (refresh_lease = $3 OR refresh_lease IS NULL)
   RETURNING ${told}`,
);

// Of the group, and of all others, of which somebody may have the same token, too, those that are being refreshed or were asked for before.
const refreshable = statement(
  'connections_list_refreshable',
  `WITH found AS MATERIALIZED (
     SELECT project_id, id FROM connection WHERE project_id = $2 AND group_ref = $3 AND provider = $1
     UNION
     SELECT project_id, id FROM connection
     WHERE provider = $1 AND refresh_lease IS NOT NULL AND refresh_lease_until >= svc_now()
     UNION
     SELECT * FROM unnest($4::uuid[], $5::uuid[]))
   SELECT c.project_id, c.id, c.generation::float8 AS generation, c.credentials
   FROM found f JOIN connection c ON c.project_id = f.project_id AND c.id = f.id
   WHERE c.status <> 'bad_credentials' ORDER BY c.project_id, c.id`,
);

// The first refusal stays: what is between it and the last one decides.
const refuse = statement(
  'connections_refused',
  `UPDATE connection SET refused_since = coalesce(refused_since, svc_now())
   WHERE project_id = $1 AND id = $2 AND generation = $3::float8::bigint AND status <> 'bad_credentials'
   RETURNING (extract(epoch FROM svc_now() - refused_since) * 1000)::float8 AS lasts_ms`,
);

/** True when the caller may refresh this generation until the lease ends. With `restMs`: unless a 401 asked for the token less than that ago. */
export async function takeRefreshLease(
  db: Queryable,
  [projectId, id]: ConnectionKey,
  lease: { generation: number; fence: string; forMs: number; restMs?: number | undefined },
): Promise<boolean> {
  const { generation, fence, forMs, restMs = null } = lease;
  return (await db.rows(take, [projectId, id, generation, fence, forMs, restMs])).length > 0;
}

/** Lets a lease that is held last longer from now on; false when somebody else has it. */
export async function extendRefreshLease(
  db: Queryable,
  [projectId, id]: ConnectionKey,
  lease: { fence: string; forMs: number },
): Promise<boolean> {
  return (await db.rows(extend, [projectId, id, lease.fence, lease.forMs])).length > 0;
}

export async function releaseRefreshLease(
  db: Queryable,
  [projectId, id]: ConnectionKey,
  fence: string,
): Promise<void> {
  await db.rows(giveBack, [projectId, id, fence]);
}

/** What a refresh may begin with. */
export type Refreshable = Pick<ConnectionRow, 'project_id' | 'id' | 'generation' | 'credentials'>;

/** The living connections of a group to a provider, those of all groups and projects that are being refreshed, and `also`. */
export function listRefreshable(
  db: Queryable,
  { provider, projectId, groupRef }: { provider: string; projectId: string; groupRef: string },
  also: readonly ConnectionKey[],
): Promise<Refreshable[]> {
  const [projects, ids] = [also.map(([project]) => project), also.map(([, id]) => id)];
  return db.rows(refreshable, [provider, projectId, groupRef, projects, ids]);
}

/** How long renewed tokens have been refused; undefined when newer credentials are in place, or these are condemned. */
export async function noteRefusal(
  db: Queryable,
  [projectId, id]: ConnectionKey,
  generation: number,
): Promise<number | undefined> {
  const [row] = await db.rows<{ lasts_ms: number }>(refuse, [projectId, id, generation]);
  return row?.lasts_ms;
}

export interface Refreshed {
  fence: string;
  /** Of the credentials that were renewed. */
  generation: number;
  /** A 401 asked for it. */
  unauthorized: boolean;
  credentials: Buffer;
  scopes: string[] | undefined;
  /** Only when it changed: what becomes of the metadata that are there by then. */
  metadataOn: ((known: ProviderMetadata) => ProviderMetadata | undefined) | undefined;
  issuedAgoMs: number;
  expiresInMs: number | undefined;
}

/** Stores the pair and records `connection.refreshed`; false when newer credentials are in place, or somebody else has the lease. */
export function commitRefresh(
  database: Database,
  key: ConnectionKey,
  refreshed: Refreshed,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { metadataOn } = refreshed;
    const row = metadataOn && (await holdConnection(tx, key));
    const metadata = row && metadataOn(row.provider_metadata);
    const values = [
      ...key,
      refreshed.fence,
      refreshed.credentials,
      refreshed.scopes ?? null,
      metadata ? JSON.stringify(metadata) : null,
      refreshed.issuedAgoMs,
      refreshed.expiresInMs ?? null,
      refreshed.generation,
      refreshed.unauthorized,
    ];
    const fresh = toldIn(await tx.rows<ToldRow>(commit, values), key, 'connection.refreshed');
    if (fresh) await record(tx, { projectId: key[0], told: fresh });
    return fresh !== undefined;
  });
}
