import { chosenOf, erasedOf, eraserBy, ofChosen } from '../../kit/db/erasing.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Slice } from '../../kit/paging.ts';

export interface ConnectLinkRow {
  project_id: string;
  id: string;
  /** Of the API key that made it. */
  key_id: string | null;
  integration: string;
  group_ref: string;
  group_name: string | null;
  consumer_ref: string;
  consumer_name: string | null;
  return_url: string | null;
  single_use: boolean;
  expires_at: Date;
  opened_at: Date | null;
  created_at: Date;
}

export interface NewConnectLink {
  id: string;
  tokenHash: Buffer;
  keyId?: string | undefined;
  integrationId: string;
  groupRef: string;
  groupName?: string | undefined;
  consumerRef: string;
  consumerName?: string | undefined;
  returnUrl?: string | undefined;
  singleUse: boolean;
  expiresInSeconds: number;
}

const columns = `l.project_id, l.id, l.key_id, i.name AS integration, l.group_ref, l.group_name, l.consumer_ref, l.consumer_name,
  l.return_url, l.single_use, l.expires_at, l.opened_at, l.created_at`;
const joined = 'JOIN integration i ON i.project_id = l.project_id AND i.id = l.integration_id';

// Those that ended a week ago are of no use to look at.
const sweep = statement(
  'connect_links_sweep',
  `DELETE FROM connect_link WHERE (project_id, id) IN
     (SELECT project_id, id FROM connect_link WHERE expires_at < svc_now() - interval '7 days'
      ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
);
const insert = statement(
  'connect_links_insert',
  `WITH l AS (INSERT INTO connect_link (project_id, id, token_hash, integration_id, group_ref, group_name, consumer_ref,
     consumer_name, return_url, single_use, expires_at, key_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, svc_now() + $11 * interval '1 second', $12) RETURNING *)
   SELECT ${columns} FROM l ${joined}`,
);
const list = statement(
  'connect_links_list',
  `SELECT ${columns} FROM connect_link l ${joined}
   WHERE l.project_id = $1 AND ($2::text IS NULL OR l.group_ref = $2) AND ($3::uuid IS NULL OR l.id < $3)
   ORDER BY l.id DESC LIMIT $4`,
);
const remove = statement(
  'connect_links_delete',
  `DELETE FROM connect_link WHERE project_id = $1 AND id = $2 AND ($3::text IS NULL OR group_ref = $3) RETURNING group_ref`,
);
const openable = `token_hash = $1 AND expires_at > svc_now() AND (browser_hash IS NULL OR browser_hash = $2)
     AND ($3::uuid IS NULL OR project_id = $3)`;
const find = statement('connect_links_find', `SELECT key_id FROM connect_link WHERE ${openable}`);
// The first browser claims a link for one use; the row is locked, so that of two one is the first.
const open = statement(
  'connect_links_open',
  `WITH l AS (UPDATE connect_link SET opened_at = coalesce(opened_at, svc_now()),
     browser_hash = CASE WHEN single_use THEN coalesce(browser_hash, $2) END
   WHERE ${openable} RETURNING *)
   SELECT ${columns} FROM l ${joined}`,
);
const load = statement(
  'connect_links_load',
  `SELECT l.id, l.project_id, p.name AS project_name, l.group_ref, l.key_id FROM connect_link l JOIN project p ON p.id = l.project_id
   WHERE l.id = ANY($1) AND l.expires_at > svc_now()`,
);

const erase = statement(
  'connect_links_erase',
  `WITH ${chosenOf('connect_link', 't.group_ref')},
  links AS (DELETE FROM connect_link WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['links'])}`,
);

export const eraseConnectLinks = eraserBy(erase);

export async function insertConnectLink(
  db: Queryable,
  projectId: string,
  link: NewConnectLink,
): Promise<ConnectLinkRow> {
  await db.rows(sweep);
  const { groupName = null, consumerName = null, returnUrl = null } = link;
  const [row] = await db.rows<ConnectLinkRow>(insert, [
    projectId,
    link.id,
    link.tokenHash,
    link.integrationId,
    link.groupRef,
    groupName,
    link.consumerRef,
    consumerName,
    returnUrl,
    link.singleUse,
    link.expiresInSeconds,
    link.keyId ?? null,
  ]);
  return row as ConnectLinkRow;
}

export async function listConnectLinks(
  db: Queryable,
  { projectId, groupRef }: { projectId: string; groupRef: string | undefined },
  { beforeId = null, limit = null }: Slice,
): Promise<ConnectLinkRow[]> {
  return db.rows<ConnectLinkRow>(list, [projectId, groupRef ?? null, beforeId, limit]);
}

/** Of which group the link was; undefined when there is none. */
export async function deleteConnectLink(
  db: Queryable,
  { projectId, groupRef }: { projectId: string; groupRef: string | undefined },
  id: string,
): Promise<string | undefined> {
  const values = [projectId, id, groupRef ?? null];
  return (await db.rows<{ group_ref: string }>(remove, values))[0]?.group_ref;
}

/** A browser with the secret of a link. */
interface Claim {
  tokenHash: Buffer;
  browserHash: Buffer;
  /** Of the page that opens it; absent for pages of an older release. */
  projectId?: string | undefined;
}

const valuesOf = ({ tokenHash, browserHash, projectId }: Claim) => [
  tokenHash,
  browserHash,
  projectId ?? null,
];

/** Who made the link, while it holds, if this browser may open it. */
export async function findConnectLink(
  db: Queryable,
  claim: Claim,
): Promise<Pick<ConnectLinkRow, 'key_id'> | undefined> {
  return (await db.rows<Pick<ConnectLinkRow, 'key_id'>>(find, valuesOf(claim)))[0];
}

/** The link while it holds, if this browser may open it. From then on it is that browser's, where it is for one use. */
export async function claimConnectLink(db: Queryable, claim: Claim): Promise<ConnectLinkRow | undefined> {
  return (await db.rows<ConnectLinkRow>(open, valuesOf(claim)))[0];
}

export interface HoldingLink {
  id: string;
  project_id: string;
  project_name: string;
  group_ref: string;
  key_id: string | null;
}

export async function loadConnectLinks(db: Queryable, ids: string[]): Promise<Map<string, HoldingLink>> {
  const rows = await db.rows<HoldingLink>(load, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}
