import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { isAside } from './aside.ts';
import type { ProviderMetadata } from './schema.ts';

// Who connects goes by the ref until a name comes. The row lock puts those who connect one group in line.
const saveGroup = statement(
  'connections_save_group',
  `INSERT INTO customer_group AS g (project_id, group_ref, name) VALUES ($1, $2, coalesce($3::text, $2))
   ON CONFLICT (project_id, group_ref) DO UPDATE SET
     name = CASE WHEN $4::boolean OR g.name = g.group_ref THEN coalesce($3::text, g.name) ELSE g.name END,
     updated_at = CASE WHEN g.name <> $3::text AND ($4::boolean OR g.name = g.group_ref) THEN svc_now() ELSE g.updated_at END`,
);

const saveConsumer = statement(
  'connections_save_consumer',
  `INSERT INTO group_consumer AS k (project_id, group_ref, consumer_ref, name) VALUES ($1, $2, $3, coalesce($4::text, $3))
   ON CONFLICT (project_id, group_ref, consumer_ref) DO UPDATE SET name = coalesce($4::text, k.name),
     updated_at = CASE WHEN k.name <> $4::text THEN svc_now() ELSE k.updated_at END`,
);

// Those that may work come first, the newest before all; of the dead the oldest, and what was set aside behind all others.
const listOwn = statement(
  'connections_list_own',
  `SELECT id, workspace_ref, provider_metadata, credentials, status <> 'bad_credentials' AS may_work,
     ${isAside()} AS is_aside
   FROM connection WHERE project_id = $1 AND group_ref = $2 AND provider = $3 AND consumer_ref = $4
   ORDER BY (status = 'bad_credentials'), ${isAside()}, CASE status WHEN 'bad_credentials' THEN created_at END, created_at DESC, id DESC`,
);

/** Who connects: a group, and a person of it. A name that is missing leaves the known one, or is the ref. */
export interface Owner {
  groupRef: string;
  groupName?: string | undefined;
  consumerRef: string;
  consumerName?: string | undefined;
}

/**
 * Holds the group's row until the transaction ends: two who connect the same group come one after the other. A person names
 * their group only as long as it has no name (`mayRename`), since their colleagues and the builder see it.
 */
export async function saveOwner(
  tx: Queryable,
  projectId: string,
  owner: Owner,
  { mayRename }: { mayRename: boolean },
): Promise<void> {
  const { groupRef, groupName = null, consumerRef, consumerName = null } = owner;
  await tx.rows(saveGroup, [projectId, groupRef, groupName, mayRename]);
  await tx.rows(saveConsumer, [projectId, groupRef, consumerRef, consumerName]);
}

/** A person, and a provider where they have accounts. */
export interface Person {
  projectId: string;
  owner: Owner;
  provider: string;
}

export interface OwnRow {
  id: string;
  workspace_ref: string | null;
  provider_metadata: ProviderMetadata;
  credentials: Buffer;
  may_work: boolean;
  /** An import set it aside: nothing uses it. */
  is_aside: boolean;
}

/** All connections of a person at a provider, whatever the account. */
export function listOwnConnections(tx: Queryable, { projectId, owner, provider }: Person): Promise<OwnRow[]> {
  return tx.rows(listOwn, [projectId, owner.groupRef, provider, owner.consumerRef]);
}
