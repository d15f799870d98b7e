import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ApiKey, Scope } from '../schema.ts';
import { touching } from './use-store.ts';

interface ApiKeyRow {
  project_id: string;
  id: string;
  label: string;
  scopes: Scope[];
  group_ref: string | null;
  active: boolean;
  last_used_at: Date | null;
  expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** What authentication needs of a key; one that has expired is not active. */
export interface ApiKeyRecord {
  id: string;
  project_id: string;
  project_name: string;
  secret_hash: Buffer;
  scopes: Scope[];
  group_ref: string | null;
  active: boolean;
}

const apiKeyColumns =
  'project_id, id, label, scopes, group_ref, active, last_used_at, expires_at, created_at, updated_at';

const loadApiKeyRows = statement(
  'api_keys_load',
  `SELECT k.id, k.project_id, p.name AS project_name, k.secret_hash, k.scopes, k.group_ref,
     k.active AND coalesce(k.expires_at > svc_now(), true) AS active
   FROM api_key k JOIN project p ON p.id = k.project_id WHERE k.id = ANY($1)`,
);
const insertApiKeyRow = statement(
  'api_keys_insert',
  `INSERT INTO api_key (project_id, id, secret_hash, label, scopes, group_ref, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${apiKeyColumns}`,
);
const listApiKeyRows = statement(
  'api_keys_list',
  `SELECT ${apiKeyColumns} FROM api_key
   WHERE project_id = $1 AND ($2::boolean IS NULL OR active = $2) ORDER BY created_at, id`,
);
const getApiKeyRow = statement(
  'api_keys_get',
  `SELECT ${apiKeyColumns} FROM api_key WHERE project_id = $1 AND id = $2`,
);
const updateApiKeyRow = statement(
  'api_keys_update',
  `UPDATE api_key SET label = coalesce($3, label), active = coalesce($4, active), scopes = coalesce($5, scopes),
     expires_at = CASE WHEN $6::boolean THEN $7::timestamptz ELSE expires_at END, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${apiKeyColumns}`,
);
const deleteApiKeyRow = statement(
  'api_keys_delete',
  'DELETE FROM api_key WHERE project_id = $1 AND id = $2 RETURNING group_ref',
);

export const touchApiKeys = touching('api_key');

export async function loadApiKeys(db: Queryable, ids: string[]): Promise<Map<string, ApiKeyRecord>> {
  const rows = await db.rows<ApiKeyRecord>(loadApiKeyRows, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

export interface NewApiKey {
  id: string;
  secretHash: Buffer;
  label: string;
  scopes: readonly Scope[];
  groupRef?: string | undefined;
  expiresAt?: string | undefined;
}

export async function insertApiKey(db: Queryable, projectId: string, key: NewApiKey): Promise<ApiKey> {
  const { id, secretHash, label, scopes, groupRef, expiresAt } = key;
  const values = [projectId, id, secretHash, label, scopes, groupRef ?? null, expiresAt ?? null];
  return (await db.rows<ApiKeyRow>(insertApiKeyRow, values)).map(presentApiKey)[0] as ApiKey;
}

export async function listApiKeys(db: Queryable, projectId: string, active?: boolean): Promise<ApiKey[]> {
  const rows = await db.rows<ApiKeyRow>(listApiKeyRows, [projectId, active ?? null]);
  return rows.map(presentApiKey);
}

export async function getApiKey(db: Queryable, projectId: string, id: string): Promise<ApiKey | undefined> {
  return (await db.rows<ApiKeyRow>(getApiKeyRow, [projectId, id])).map(presentApiKey)[0];
}

export interface ApiKeyChange {
  label?: string;
  active?: boolean;
  scopes?: Scope[];
  /** null: it does not expire. */
  expiresAt?: string | null;
}

export async function updateApiKey(
  db: Queryable,
  projectId: string,
  id: string,
  { label, active, scopes, expiresAt }: ApiKeyChange,
): Promise<ApiKey | undefined> {
  const kept = [label ?? null, active ?? null, scopes ?? null];
  const values = [projectId, id, ...kept, expiresAt !== undefined, expiresAt ?? null];
  return (await db.rows<ApiKeyRow>(updateApiKeyRow, values)).map(presentApiKey)[0];
}

/** To which group the key was confined, if to any; undefined when there is no such key. */
export async function deleteApiKey(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<{ groupRef: string | undefined } | undefined> {
  const [row] = await db.rows<{ group_ref: string | null }>(deleteApiKeyRow, [projectId, id]);
  return row && { groupRef: row.group_ref ?? undefined };
}

function presentApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes,
    ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
    projectId: row.project_id,
    active: row.active,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at.toISOString() }),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
