import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';

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

const same = `FROM connection WHERE project_id = $1 AND group_ref = $2 AND provider = $3 AND consumer_ref = $4
     AND workspace_ref IS NOT DISTINCT FROM $5::text`;

// What was set aside is dead from the start: it gives way to one that may work, and to one that died since.
const findSame = statement(
  'connections_find_same',
  `SELECT id ${same}
   ORDER BY (status = 'bad_credentials'), CASE status WHEN 'bad_credentials' THEN created_at END, created_at DESC, id DESC LIMIT 1`,
);

const listAside = statement(
  'connections_list_aside',
  `SELECT id, credentials ${same} AND status = 'bad_credentials' AND starts_with(status_detail, $6)`,
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

/** The account of a person that credentials open. */
export interface Account {
  projectId: string;
  owner: Owner;
  provider: string;
  workspaceRef: string | undefined;
}

const valuesOf = ({ projectId, owner, provider, workspaceRef }: Account): unknown[] => [
  projectId,
  owner.groupRef,
  provider,
  owner.consumerRef,
  workspaceRef ?? null,
];

/** The connection that a new set of credentials belongs to: same group, provider, consumer and account. */
export async function findSameConnection(tx: Queryable, account: Account): Promise<string | undefined> {
  return (await tx.rows<{ id: string }>(findSame, valuesOf(account)))[0]?.id;
}

/** Those of them that were set aside: what is told of them begins with the given words. */
export function listAsideConnections(
  tx: Queryable,
  account: Account,
  words: string,
): Promise<{ id: string; credentials: Buffer }[]> {
  return tx.rows(listAside, [...valuesOf(account), words]);
}
