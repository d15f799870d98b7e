import { record, type Reach, type Told } from '../events/index.ts';
import type { Database, Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { Slice } from '../kit/paging.ts';
import { storable } from '../kit/storable.ts';
import type { ProviderAppMetadata } from '../projects/schema.ts';
import { nextAsOf, nextSignIn } from './as-of.ts';
import { isAside } from './aside.ts';
import { mostStatusDetail } from './limits.ts';
import type { Owner } from './owner-store.ts';
import type { AuthScheme, ConnectionStatus, ProviderMetadata } from './schema.ts';

/** A connection as stored, with its group, consumer and provider app. The credentials are sealed. */
export interface ConnectionRow {
  project_id: string;
  id: string;
  provider: string;
  provider_app_id: string | null;
  group_ref: string;
  consumer_ref: string;
  workspace_ref: string | null;
  provider_consumer_ref: string | null;
  auth_scheme: AuthScheme;
  status: ConnectionStatus;
  status_detail: string | null;
  /** An import set its credentials aside: nothing uses them. */
  is_aside: boolean;
  /** An export took its use to another server. */
  is_moved: boolean;
  /** It came by a file and was not signed in here since. */
  came_in: boolean;
  provider_metadata: ProviderMetadata;
  scopes: string[] | null;
  credentials: Buffer;
  /** Counts the sets of credentials; below 2^53. */
  generation: number;
  /** Changes with every change of the row. */
  version: string;
  access_issued_at: Date | null;
  access_expires_at: Date | null;
  /** What is left by the database's clock when the row was read; nodes' clocks may differ. */
  expires_in_ms: number | null;
  /** How long ago a 401 asked for the access token in place; null when something else did. */
  unauthorized_ms_ago: number | null;
  /** A renewed access token was refused, and no call was accepted since. */
  is_refused: boolean;
  created_at: Date;
  updated_at: Date;
  group_name: string;
  group_created_at: Date;
  group_updated_at: Date;
  consumer_name: string;
  consumer_created_at: Date;
  consumer_updated_at: Date;
  app_client_id: string | null;
  app_external_ref: string | null;
  app_scopes: string[] | null;
  app_metadata: ProviderAppMetadata | null;
  app_is_default: boolean | null;
  app_created_at: Date | null;
  app_updated_at: Date | null;
}

/** Whose a connection is, as the log says it. */
export function whoseOf(row: Pick<ConnectionRow, 'project_id' | 'group_ref' | 'id' | 'provider'>): {
  projectId: string;
  groupRef: string;
  connectionId: string;
  provider: string;
} {
  return { projectId: row.project_id, groupRef: row.group_ref, connectionId: row.id, provider: row.provider };
}

const columns = `c.project_id, c.id, c.provider, c.provider_app_id, c.group_ref, c.consumer_ref, c.workspace_ref,
  c.provider_consumer_ref, c.auth_scheme, c.status, c.status_detail, ${isAside('c.')} AS is_aside, c.moved_at IS NOT NULL AS is_moved, c.came_in, c.provider_metadata, c.scopes, c.credentials,
  c.generation::float8 AS generation, c.xmin::text AS version, c.access_issued_at, c.access_expires_at,
  (extract(epoch FROM c.access_expires_at - svc_now()) * 1000)::float8 AS expires_in_ms,
  (extract(epoch FROM svc_now() - c.unauthorized_at) * 1000)::float8 AS unauthorized_ms_ago, c.refused_since IS NOT NULL AS is_refused, c.created_at, c.updated_at,
  g.name AS group_name, g.created_at AS group_created_at, g.updated_at AS group_updated_at,
  k.name AS consumer_name, k.created_at AS consumer_created_at, k.updated_at AS consumer_updated_at,
  a.client_id AS app_client_id, a.external_ref AS app_external_ref, a.scopes AS app_scopes, a.metadata AS app_metadata,
  a.is_default AS app_is_default, a.created_at AS app_created_at, a.updated_at AS app_updated_at`;

const tables = `connection c
  JOIN customer_group g ON g.project_id = c.project_id AND g.group_ref = c.group_ref
  JOIN group_consumer k ON k.project_id = c.project_id AND k.group_ref = c.group_ref AND k.consumer_ref = c.consumer_ref
  LEFT JOIN provider_app a ON a.project_id = c.project_id AND a.id = c.provider_app_id`;

const readMany = statement(
  'connections_read_many',
  `SELECT ${columns} FROM unnest($1::uuid[], $2::uuid[]) AS asked (project_id, id)
   JOIN ${tables.replace('connection c', 'connection c ON c.project_id = asked.project_id AND c.id = asked.id')}`,
);

const find = statement(
  'connections_find',
  `SELECT ${columns} FROM ${tables}
   WHERE c.project_id = $1 AND c.id = $2 AND ($3::text IS NULL OR c.group_ref = $3)`,
);

// Nobody comes to it any more until the transaction ends.
const hold = statement(
  'connections_hold',
  `SELECT FROM connection WHERE project_id = $1 AND id = $2 FOR UPDATE`,
);

const list = statement(
  'connections_list',
  `SELECT ${columns} FROM ${tables}
   WHERE c.project_id = $1 AND ($2::text IS NULL OR c.provider = $2) AND ($3::text IS NULL OR c.group_ref = $3)
     AND ($4::text IS NULL OR c.consumer_ref = $4) AND ($5::uuid[] IS NULL OR c.id = ANY($5))
     AND ($6::uuid IS NULL OR c.id < $6) AND ($8::text IS NULL OR c.group_ref = $8)
     AND ($9::text IS NULL OR c.status = $9)
   ORDER BY c.id DESC LIMIT $7`,
);

// The newest usable one, else the newest that was not set aside.
const findDefault = statement(
  'connections_find_default',
  `SELECT ${columns} FROM ${tables}
   WHERE c.project_id = $1 AND c.group_ref = $2 AND c.provider = $3 AND ($4::text IS NULL OR c.group_ref = $4)
   ORDER BY (c.status = 'bad_credentials'), ${isAside('c.')}, c.created_at DESC, c.id DESC LIMIT 1`,
);

const insert = statement(
  'connections_insert',
  `INSERT INTO connection (project_id, id, provider, provider_app_id, group_ref, consumer_ref, workspace_ref,
     provider_consumer_ref, auth_scheme, provider_metadata, scopes, credentials, status, status_detail, as_of, signed_in_at, access_issued_at, access_expires_at, aside_generation)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $16, svc_now(), svc_now(),
     svc_now() - $14::float8 * interval '1 ms', svc_now() + $15::float8 * interval '1 ms', CASE WHEN $17::boolean THEN 1 END)`,
);

// In seconds, exact to the microsecond.
const signedIn = `extract(epoch FROM signed_in_at)::float8 AS "signedInAt"`;

// A refresh that is under way loses its fence: what it brings belongs to the old credentials.
const replace = statement(
  'connections_replace',
  `UPDATE connection SET provider_app_id = $3, workspace_ref = $4, provider_consumer_ref = $5, auth_scheme = $6,
     provider_metadata = $7, scopes = $8, credentials = $9, status = $10,
     access_issued_at = svc_now() - $11::float8 * interval '1 ms', access_expires_at = svc_now() + $12::float8 * interval '1 ms',
     generation = generation + 1, status_detail = NULL, as_of = ${nextAsOf}, signed_in_at = ${nextSignIn}, came_in = false, moved_at = NULL, refresh_lease = NULL, refresh_lease_until = NULL,
     unauthorized_at = NULL, refused_since = NULL,
     updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING generation::float8 AS generation, ${signedIn}`,
);

const holdNewest = statement(
  'connections_hold_signed_in',
  `SELECT ${signedIn} FROM connection WHERE project_id = $1 AND id = $2 FOR UPDATE`,
);

/** SQL: what an event tells of a row `c` that has the columns of `connection`, and `more`, a jsonb. */
const toldOf = (
  more?: string,
): string => `c.group_ref, (jsonb_build_object('projectId', c.project_id, 'connectionId', c.id,
  'provider', c.provider, 'groupRef', c.group_ref, 'consumerRef', c.consumer_ref, 'consumerName',
  (SELECT k.name FROM group_consumer k
    WHERE k.project_id = c.project_id AND k.group_ref = c.group_ref AND k.consumer_ref = c.consumer_ref))
  ${more === undefined ? '' : `|| ${more}`})::text AS told`;

/** SQL: the columns of a {@link ToldRow}. */
export const told = toldOf();

const readTold = statement(
  'connections_read_told',
  `SELECT ${told} FROM connection c WHERE c.project_id = $1 AND c.id = $2`,
);

const describe = statement(
  'connections_describe',
  `UPDATE connection c SET workspace_ref = CASE WHEN $3::boolean THEN $4::text ELSE workspace_ref END,
     provider_metadata = coalesce($5::json, provider_metadata), updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${told}`,
);

const remove = statement(
  'connections_delete',
  `DELETE FROM connection c WHERE project_id = $1 AND id = $2 RETURNING ${told}`,
);

const markWorking = statement(
  'connections_mark_working',
  `UPDATE connection SET status = 'working', refused_since = NULL, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 AND (status = 'created' OR (status = 'working' AND refused_since IS NOT NULL))`,
);

// One death, one event: who finds it dead already changes nothing.
const markBad = statement(
  'connections_mark_bad',
  `UPDATE connection c SET status = 'bad_credentials', status_detail = $4, refresh_lease = NULL, refresh_lease_until = NULL,
     updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 AND generation = $3::float8::bigint AND status <> 'bad_credentials'
     AND ($5::uuid IS NULL OR refresh_lease = $5)
   RETURNING ${toldOf("jsonb_build_object('errors', jsonb_build_array(c.status_detail), 'error', jsonb_build_array(c.status_detail))")}`,
);

export type ConnectionKey = readonly [projectId: string, id: string];

/** Those of the connections that exist. */
export function readConnections(db: Queryable, keys: readonly ConnectionKey[]): Promise<ConnectionRow[]> {
  return db.rows<ConnectionRow>(readMany, [keys.map(([projectId]) => projectId), keys.map(([, id]) => id)]);
}

export async function readConnection(
  db: Queryable,
  [projectId, id]: ConnectionKey,
): Promise<ConnectionRow | undefined> {
  return (await db.rows<ConnectionRow>(readMany, [[projectId], [id]]))[0];
}

/** The same, held until the transaction ends: no installation comes to it meanwhile, and it does not go. */
export async function holdConnection(tx: Queryable, key: ConnectionKey): Promise<ConnectionRow | undefined> {
  return (await tx.rows(hold, [...key])).length > 0 ? readConnection(tx, key) : undefined;
}

/** For a caller; another group's does not exist. */
export async function findConnection(
  db: Queryable,
  { projectId, groupRef }: Reach,
  id: string,
): Promise<ConnectionRow | undefined> {
  return (await db.rows<ConnectionRow>(find, [projectId, id, groupRef ?? null]))[0];
}

export interface ConnectionFilter {
  provider?: string | undefined;
  groupRef?: string | undefined;
  consumerRef?: string | undefined;
  ids?: readonly string[];
  status?: ConnectionStatus | undefined;
}

/** Newest first. */
export function listConnections(
  db: Queryable,
  reach: Reach,
  filter: ConnectionFilter,
  { beforeId = null, limit = null }: Slice = {},
): Promise<ConnectionRow[]> {
  const { provider = null, groupRef = null, consumerRef = null, ids = null, status = null } = filter;
  const asked = [provider, groupRef, consumerRef, ids, beforeId, limit];
  return db.rows<ConnectionRow>(list, [reach.projectId, ...asked, reach.groupRef ?? null, status]);
}

export async function findDefaultConnection(
  db: Queryable,
  reach: Reach,
  groupRef: string,
  provider: string,
): Promise<ConnectionRow | undefined> {
  return (
    await db.rows<ConnectionRow>(findDefault, [reach.projectId, groupRef, provider, reach.groupRef ?? null])
  )[0];
}

/** What is stored with a new set of credentials. */
export interface ConnectionContent {
  provider: string;
  providerAppId: string | undefined;
  workspaceRef: string | undefined;
  providerConsumerRef: string | undefined;
  authScheme: AuthScheme;
  providerMetadata: ProviderMetadata;
  scopes: string[] | undefined;
  credentials: Buffer;
  status: ConnectionStatus;
  /** Of one that is made dead. */
  statusDetail?: string | undefined;
  /** Nothing is to use them. */
  isAside?: boolean;
  /** How long ago the token request was sent. */
  issuedAgoMs: number | undefined;
  expiresInMs: number | undefined;
}

function valuesOf(content: ConnectionContent): unknown[] {
  return [
    content.workspaceRef ?? null,
    content.providerConsumerRef ?? null,
    content.authScheme,
    JSON.stringify(content.providerMetadata),
    content.scopes ?? null,
    content.credentials,
    content.status,
    content.issuedAgoMs ?? null,
    content.expiresInMs ?? null,
  ];
}

/** A provider's words may be of any length. */
const detailOf = (text: string): string => storable(text.slice(0, mostStatusDetail));

export async function insertConnection(
  tx: Queryable,
  [projectId, id]: ConnectionKey,
  owner: Owner,
  content: ConnectionContent,
): Promise<void> {
  await tx.rows(insert, [
    projectId,
    id,
    content.provider,
    content.providerAppId ?? null,
    owner.groupRef,
    owner.consumerRef,
    ...valuesOf(content),
    content.statusDetail === undefined ? null : detailOf(content.statusDetail),
    content.isAside ?? false,
  ]);
}

/** When credentials were signed in, by the database: later than all that the connection had before. */
interface SignedIn {
  signedInAt: number;
}

/** Of the new ones; undefined when the connection is gone. */
export async function replaceCredentials(
  tx: Queryable,
  [projectId, id]: ConnectionKey,
  content: ConnectionContent,
): Promise<({ generation: number } & SignedIn) | undefined> {
  const values = [projectId, id, content.providerAppId ?? null, ...valuesOf(content)];
  return (await tx.rows<{ generation: number } & SignedIn>(replace, values))[0];
}

/** Of the credentials in place, held until the transaction ends. */
export async function holdSignedIn(tx: Queryable, key: ConnectionKey): Promise<SignedIn | undefined> {
  return (await tx.rows<SignedIn>(holdNewest, [...key]))[0];
}

/** What may change without new credentials; a member that is missing stays. */
export interface Description {
  workspaceRef?: string;
  providerMetadata?: ProviderMetadata;
}

/** What is to be told of it; undefined when the connection is gone. */
export async function describeConnection(
  tx: Queryable,
  key: ConnectionKey,
  { workspaceRef, providerMetadata }: Description,
): Promise<Told | undefined> {
  const metadata = providerMetadata ? JSON.stringify(providerMetadata) : null;
  const values = [...key, workspaceRef !== undefined, workspaceRef ?? null, metadata];
  return toldIn(await tx.rows<ToldRow>(describe, values), key, 'connection.updated');
}

/** What is to be told of it; undefined when the connection is gone. */
export async function deleteConnection(tx: Queryable, key: ConnectionKey): Promise<Told | undefined> {
  return toldIn(await tx.rows<ToldRow>(remove, [...key]), key, 'connection.deleted');
}

/** What is to be told of a connection that was just saved. */
export async function readToldOf(
  tx: Queryable,
  key: ConnectionKey,
  type: 'connection.created' | 'connection.updated',
): Promise<Told | undefined> {
  return toldIn(await tx.rows<ToldRow>(readTold, [...key]), key, type);
}

export interface ToldRow {
  group_ref: string;
  told: string;
}

/** The event of a changed row; undefined when no row changed. */
export function toldIn(
  [row]: readonly ToldRow[],
  [, connectionId]: ConnectionKey,
  type: Told['type'],
): Told | undefined {
  return row && { type, groupRef: row.group_ref, connectionId, data: row.told };
}

export async function setWorking(db: Queryable, [projectId, id]: ConnectionKey): Promise<void> {
  await db.rows(markWorking, [projectId, id]);
}

/** Condemns one generation and records `connection.error`, once; false when it was condemned before, when there are newer credentials, or the fence of the refresh no longer holds. */
export function setBadCredentials(
  database: Database,
  key: ConnectionKey,
  found: { generation: number; detail: string; fence?: string },
): Promise<boolean> {
  const { generation, detail, fence = null } = found;
  return database.transaction(async (tx) => {
    const rows = await tx.rows<ToldRow>(markBad, [...key, generation, detailOf(detail), fence]);
    const error = toldIn(rows, key, 'connection.error');
    if (error) await record(tx, { projectId: key[0], told: error });
    return error !== undefined;
  });
}
