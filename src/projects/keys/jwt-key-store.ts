import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { JwtKey } from '../schema.ts';
import { touching } from './use-store.ts';

interface JwtKeyRow {
  project_id: string;
  id: string;
  label: string;
  public_key_pem: string;
  issuer: string | null;
  audience: string | null;
  active: boolean;
  last_used_at: Date | null;
  expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** What the check of a token needs of its key; one that has expired is not active. */
export interface JwtKeyRecord {
  id: string;
  project_id: string;
  project_name: string;
  public_key_pem: string;
  issuer: string | null;
  audience: string | null;
  active: boolean;
}

const jwtKeyColumns = `project_id, id, label, public_key_pem, issuer, audience, active, last_used_at, expires_at, created_at,
  updated_at`;

// Imports of earlier releases brought keys of one project into another, too: there the older project has it, and none once one revoked it.
const loadJwtKeyRows = statement(
  'jwt_keys_load',
  `SELECT DISTINCT ON (k.id) k.id, k.project_id, p.name AS project_name, k.public_key_pem, k.issuer, k.audience,
     bool_and(k.active AND coalesce(k.expires_at > svc_now(), true)) OVER (PARTITION BY k.id) AS active
   FROM jwt_key k JOIN project p ON p.id = k.project_id WHERE k.id = ANY($1) ORDER BY k.id, k.project_id`,
);
const insertJwtKeyRow = statement(
  'jwt_keys_insert',
  `INSERT INTO jwt_key (project_id, id, label, algorithm, public_key_pem, issuer, audience, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
const listJwtKeyRows = statement(
  'jwt_keys_list',
  `SELECT ${jwtKeyColumns} FROM jwt_key WHERE project_id = $1 AND (active OR NOT $2::boolean) ORDER BY id`,
);
const getJwtKeyRow = statement(
  'jwt_keys_get',
  `SELECT ${jwtKeyColumns} FROM jwt_key WHERE project_id = $1 AND id = $2`,
);
const updateJwtKeyRow = statement(
  'jwt_keys_update',
  `UPDATE jwt_key SET label = coalesce($3, label), active = coalesce($4, active),
     issuer = CASE WHEN $5::boolean THEN $6::text ELSE issuer END,
     audience = CASE WHEN $7::boolean THEN $8::text ELSE audience END,
     expires_at = CASE WHEN $9::boolean THEN $10::timestamptz ELSE expires_at END, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${jwtKeyColumns}`,
);
const deleteJwtKeyRow = statement(
  'jwt_keys_delete',
  'DELETE FROM jwt_key WHERE project_id = $1 AND id = $2 RETURNING id',
);

export const touchJwtKeys = touching('jwt_key');

export async function loadJwtKeys(db: Queryable, ids: string[]): Promise<JwtKeyRecord[]> {
  return db.rows<JwtKeyRecord>(loadJwtKeyRows, [ids]);
}

export interface NewJwtKey {
  id: string;
  label: string;
  algorithm: string;
  publicKeyPem: string;
  issuer?: string;
  audience?: string;
  expiresAt?: string;
}

export async function insertJwtKey(db: Queryable, projectId: string, key: NewJwtKey): Promise<void> {
  const { id, label, algorithm, publicKeyPem, issuer = null, audience = null, expiresAt = null } = key;
  const values = [projectId, id, label, algorithm, publicKeyPem, issuer, audience, expiresAt];
  await db.rows(insertJwtKeyRow, values);
}

export async function listJwtKeys(db: Queryable, projectId: string, activeOnly: boolean): Promise<JwtKey[]> {
  const rows = await db.rows<JwtKeyRow>(listJwtKeyRows, [projectId, activeOnly]);
  return rows.map(presentJwtKey);
}

export async function getJwtKey(db: Queryable, projectId: string, id: string): Promise<JwtKey | undefined> {
  return (await db.rows<JwtKeyRow>(getJwtKeyRow, [projectId, id])).map(presentJwtKey)[0];
}

/** A member that is missing stays; null clears. */
export interface JwtKeyChange {
  label?: string;
  active?: boolean;
  issuer?: string | null;
  audience?: string | null;
  expiresAt?: string | null;
}

export async function updateJwtKey(
  db: Queryable,
  projectId: string,
  id: string,
  { label, active, issuer, audience, expiresAt }: JwtKeyChange,
): Promise<JwtKey | undefined> {
  const clearable = [issuer, audience, expiresAt].flatMap((value) => [value !== undefined, value ?? null]);
  const values = [projectId, id, label ?? null, active ?? null, ...clearable];
  return (await db.rows<JwtKeyRow>(updateJwtKeyRow, values)).map(presentJwtKey)[0];
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
    ...(row.issuer === null ? {} : { issuer: row.issuer }),
    ...(row.audience === null ? {} : { audience: row.audience }),
    active: row.active,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at.toISOString() }),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
