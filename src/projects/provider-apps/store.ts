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
  is_default: boolean;
  created_at: Date;
  updated_at: Date;
}

const columns =
  'project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata, is_default, created_at, updated_at';

const list = statement(
  'provider_apps_list',
  `SELECT ${columns} FROM provider_app WHERE project_id = $1 ORDER BY created_at, id`,
);
const get = statement(
  'provider_apps_get',
  `SELECT ${columns} FROM provider_app WHERE project_id = $1 AND id = $2`,
);
const byDefault = statement(
  'provider_apps_default',
  `SELECT ${columns} FROM provider_app WHERE project_id = $1 AND provider = $2
   ORDER BY is_default DESC, created_at, id LIMIT 1`,
);
const twin = statement(
  'provider_apps_twin',
  `SELECT id FROM provider_app
   WHERE project_id = $1 AND provider = $2 AND client_id = $3 AND id <> $4 ORDER BY created_at, id LIMIT 1`,
);
const insert = statement(
  'provider_apps_insert',
  `INSERT INTO provider_app (project_id, id, provider, client_id, client_secret, external_ref, scopes, metadata)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
);
const update = statement(
  'provider_apps_update',
  `UPDATE provider_app SET provider = $3, client_id = $4, client_secret = $5, external_ref = $6, scopes = $7,
     metadata = $8, updated_at = svc_now()
   WHERE project_id = $1 AND id = $2 RETURNING ${columns}`,
);
// Two statements, since the index holds one default of a provider at any moment.
const unmark = statement(
  'provider_apps_unmark',
  'UPDATE provider_app SET is_default = false WHERE project_id = $1 AND provider = $2 AND is_default',
);
const mark = statement(
  'provider_apps_mark',
  `UPDATE provider_app SET is_default = true WHERE project_id = $1 AND provider = $2 AND id = $3`,
);
// A provider that has apps has a default: the oldest, where none was chosen.
const restore = statement(
  'provider_apps_restore_defaults',
  `UPDATE provider_app SET is_default = true WHERE project_id = $1 AND id IN (
     SELECT DISTINCT ON (a.provider) a.id FROM provider_app a
     WHERE a.project_id = $1 AND NOT EXISTS (
       SELECT FROM provider_app d WHERE d.project_id = $1 AND d.provider = a.provider AND d.is_default)
     ORDER BY a.provider, a.created_at, a.id)`,
);
const lockAll = statement(
  'provider_apps_lock_all',
  `SELECT pg_advisory_xact_lock(hashtextextended('svc:provider-apps:' || $1, 0))`,
);
const lock = statement(
  'provider_apps_lock',
  `SELECT ${columns} FROM provider_app WHERE project_id = $1 AND id = $2 FOR UPDATE`,
);
const remove = statement(
  'provider_apps_delete',
  'DELETE FROM provider_app WHERE project_id = $1 AND id = $2 RETURNING id',
);

export type ProviderAppValues = Omit<ProviderAppRow, 'is_default' | 'created_at' | 'updated_at'>;

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

/** The app for whoever names none. */
export async function findDefaultProviderApp(
  db: Queryable,
  projectId: string,
  provider: string,
): Promise<ProviderAppRow | undefined> {
  return (await db.rows<ProviderAppRow>(byDefault, [projectId, provider]))[0];
}

/** The id of another app for the same client at the provider. */
export async function findTwin(
  db: Queryable,
  { project_id, provider, client_id, id }: ProviderAppValues,
): Promise<string | undefined> {
  return (await db.rows<{ id: string }>(twin, [project_id, provider, client_id, id]))[0]?.id;
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

/** Changes of a project's apps follow one another; held until the transaction ends. */
export async function lockProviderApps(tx: Queryable, projectId: string): Promise<void> {
  await tx.rows(lockAll, [projectId]);
}

export async function unmarkDefault(tx: Queryable, projectId: string, provider: string): Promise<void> {
  await tx.rows(unmark, [projectId, provider]);
}

export async function markDefault(
  tx: Queryable,
  projectId: string,
  provider: string,
  id: string,
): Promise<void> {
  await unmarkDefault(tx, projectId, provider);
  await tx.rows(mark, [projectId, provider, id]);
}

export async function restoreDefaults(tx: Queryable, projectId: string): Promise<void> {
  await tx.rows(restore, [projectId]);
}
