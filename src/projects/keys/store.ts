import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ApiKey, JwtKey, Scope } from '../schema.ts';

interface ApiKeyRow {
  project_id: string;
  id: string;
  label: string;
  scopes: Scope[];
  group_ref: string | null;
  active: boolean;
  created_at: Date;
  updated_at: Date;
}

/** What authentication needs of a key. */
export interface ApiKeyRecord {
  id: string;
  project_id: string;
  project_name: string;
  secret_hash: Buffer;
  scopes: Scope[];
  group_ref: string | null;
  active: boolean;
}

const apiKeyColumns = 'project_id, id, label, scopes, group_ref, active, created_at, updated_at';

const loadApiKeyRows = statement(
  'api_keys_load',
  `SELECT k.id, k.project_id, p.name AS project_name, k.secret_hash, k.scopes, k.group_ref, k.active
   FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.id = ANY($1)`,
);
const insertApiKeyRow = statement(
  'api_keys_insert',
  `INSERT INTO api_keys (project_id, id, secret_hash, label, scopes, group_ref)
   VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${apiKeyColumns}`,
);
const listApiKeyRows = statement(
  'api_keys_list',
  `SELECT ${apiKeyColumns} FROM api_keys
   WHERE project_id = $1 AND ($2::boolean IS NULL OR active = $2) ORDER BY created_at, id`,
);
const getApiKeyRow = statement(
  'api_keys_get',
  `SELECT ${apiKeyColumns} FROM api_keys WHERE project_id = $1 AND id = $2`,
);
const updateApiKeyRow = statement(
  'api_keys_update',
  `UPDATE api_keys SET label = coalesce($3, label), active = coalesce($4, active), scopes = coalesce($5, scopes),
     updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${apiKeyColumns}`,
);
const deleteApiKeyRow = statement(
  'api_keys_delete',
  'DELETE FROM api_keys WHERE project_id = $1 AND id = $2 RETURNING id',
);

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
}

export async function insertApiKey(db: Queryable, projectId: string, key: NewApiKey): Promise<ApiKey> {
  const { id, secretHash, label, scopes, groupRef } = key;
  const values = [projectId, id, secretHash, label, scopes, groupRef ?? null];
  return presentOne(await db.rows<ApiKeyRow>(insertApiKeyRow, values), presentApiKey) as ApiKey;
}

export async function listApiKeys(db: Queryable, projectId: string, active?: boolean): Promise<ApiKey[]> {
  const rows = await db.rows<ApiKeyRow>(listApiKeyRows, [projectId, active ?? null]);
  return rows.map(presentApiKey);
}

export async function getApiKey(db: Queryable, projectId: string, id: string): Promise<ApiKey | undefined> {
  return presentOne(await db.rows<ApiKeyRow>(getApiKeyRow, [projectId, id]), presentApiKey);
}

export interface ApiKeyChange {
  label?: string;
  active?: boolean;
  scopes?: Scope[];
}

export async function updateApiKey(
  db: Queryable,
  projectId: string,
  id: string,
  { label, active, scopes }: ApiKeyChange,
): Promise<ApiKey | undefined> {
  const values = [projectId, id, label ?? null, active ?? null, scopes ?? null];
  return presentOne(await db.rows<ApiKeyRow>(updateApiKeyRow, values), presentApiKey);
}

export async function deleteApiKey(db: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await db.rows(deleteApiKeyRow, [projectId, id])).length > 0;
}

function presentApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes,
    ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
    projectId: row.project_id,
    active: row.active,
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}

function presentOne<Row, Shown>(rows: Row[], present: (row: Row) => Shown): Shown | undefined {
  const row = rows[0];
  return row === undefined ? undefined : present(row);
}

interface JwtKeyRow {
  project_id: string;
  id: string;
  label: string;
  public_key_pem: string;
  active: boolean;
  created_at: Date;
  updated_at: Date;
}

/** What the check of a token needs of its key. */
export interface JwtKeyRecord {
  id: string;
  project_id: string;
  project_name: string;
  public_key_pem: string;
  active: boolean;
}

const jwtKeyColumns = 'project_id, id, label, public_key_pem, active, created_at, updated_at';

const loadJwtKeyRows = statement(
  'jwt_keys_load',
  `SELECT k.id, k.project_id, p.name AS project_name, k.public_key_pem, k.active
   FROM jwt_keys k JOIN projects p ON p.id = k.project_id WHERE k.id = ANY($1)`,
);
const insertJwtKeyRow = statement(
  'jwt_keys_insert',
  'INSERT INTO jwt_keys (project_id, id, label, algorithm, public_key_pem) VALUES ($1, $2, $3, $4, $5)',
);
const listJwtKeyRows = statement(
  'jwt_keys_list',
  `SELECT ${jwtKeyColumns} FROM jwt_keys WHERE project_id = $1 AND (active OR NOT $2::boolean) ORDER BY id`,
);
const getJwtKeyRow = statement(
  'jwt_keys_get',
  `SELECT ${jwtKeyColumns} FROM jwt_keys WHERE project_id = $1 AND id = $2`,
);
const updateJwtKeyRow = statement(
  'jwt_keys_update',
  `UPDATE jwt_keys SET label = coalesce($3, label), active = coalesce($4, active), updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${jwtKeyColumns}`,
);
const deleteJwtKeyRow = statement(
  'jwt_keys_delete',
  'DELETE FROM jwt_keys WHERE project_id = $1 AND id = $2 RETURNING id',
);

export async function loadJwtKeys(db: Queryable, ids: string[]): Promise<JwtKeyRecord[]> {
  return db.rows<JwtKeyRecord>(loadJwtKeyRows, [ids]);
}

export async function insertJwtKey(
  db: Queryable,
  projectId: string,
  key: { id: string; label: string; algorithm: string; publicKeyPem: string },
): Promise<void> {
  await db.rows(insertJwtKeyRow, [projectId, key.id, key.label, key.algorithm, key.publicKeyPem]);
}

export async function listJwtKeys(db: Queryable, projectId: string, activeOnly: boolean): Promise<JwtKey[]> {
  const rows = await db.rows<JwtKeyRow>(listJwtKeyRows, [projectId, activeOnly]);
  return rows.map(presentJwtKey);
}

export async function getJwtKey(db: Queryable, projectId: string, id: string): Promise<JwtKey | undefined> {
  return presentOne(await db.rows<JwtKeyRow>(getJwtKeyRow, [projectId, id]), presentJwtKey);
}

export async function updateJwtKey(
  db: Queryable,
  projectId: string,
  id: string,
  { label, active }: { label?: string; active?: boolean },
): Promise<JwtKey | undefined> {
  const values = [projectId, id, label ?? null, active ?? null];
  return presentOne(await db.rows<JwtKeyRow>(updateJwtKeyRow, values), presentJwtKey);
}

export async function deleteJwtKey(db: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await db.rows(deleteJwtKeyRow, [projectId, id])).length > 0;
}

function presentJwtKey(row: JwtKeyRow): JwtKey {
  return {
    id: row.id,
    projectId: row.project_id,
    label: row.label,
    algorithm: 'RSA',
    publicKeyPem: row.public_key_pem,
    active: row.active,
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
