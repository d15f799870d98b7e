import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ProviderAppMetadata } from '../schema.ts';

export interface ProviderAppRow {
  project_id: string;
  id: string;
  provider: string;
  client_id: string;
  client_secret: Buffer;
  external_ref: string | null;
  scopes: string[] | null;
  metadata: ProviderAppMetadata;
  created_at: Date;
  updated_at: Date;
}

const columns =
  'project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata, created_at, updated_at';

const list = statement(
  'provider_apps_list',
  `SELECT ${columns} FROM provider_apps WHERE project_id = $1 ORDER BY created_at, id`,
);
const get = statement(
  'provider_apps_get',
  `SELECT ${columns} FROM provider_apps WHERE project_id = $1 AND id = $2`,
);
const newest = statement(
  'provider_apps_newest',
  `SELECT ${columns} FROM provider_apps WHERE project_id = $1 AND provider = $2
   ORDER BY created_at DESC, id DESC LIMIT 1`,
);
const insert = statement(
  'provider_apps_insert',
  `INSERT INTO provider_apps (project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
);
const update = statement(
  'provider_apps_update',
  `UPDATE provider_apps SET provider = $3, client_id = $4, client_secret = $5, external_ref = $6, scopes = $7,
     metadata = $8, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${columns}`,
);
const lock = statement(
  'provider_apps_lock',
  `SELECT ${columns} FROM provider_apps WHERE project_id = $1 AND id = $2 FOR UPDATE`,
);
const remove = statement(
  'provider_apps_delete',
  'DELETE FROM provider_apps WHERE project_id = $1 AND id = $2 RETURNING id',
);

export type ProviderAppValues = Omit<ProviderAppRow, 'created_at' | 'updated_at'>;

function valuesOf(app: ProviderAppValues): unknown[] {
  const { project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata } = app;
  return [project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata];
}

export function listProviderApps(db: Queryable, projectId: string): Promise<ProviderAppRow[]> {
  return db.rows<ProviderAppRow>(list, [projectId]);
}

export async function findProviderApp(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(get, [projectId, id]))[0];
}

export async function findNewestProviderApp(
  db: Queryable,
  projectId: string,
  provider: string,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(newest, [projectId, provider]))[0];
}

export async function insertProviderApp(
  db: Queryable,
  app: ProviderAppValues,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(insert, valuesOf(app)))[0];
}

export async function lockProviderApp(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(lock, [projectId, id]))[0];
}

export async function updateProviderApp(
  db: Queryable,
  app: ProviderAppValues,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(update, valuesOf(app)))[0];
}

export async function deleteProviderApp(db: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await db.rows(remove, [projectId, id])).length > 0;
}
