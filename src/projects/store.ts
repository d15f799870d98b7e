import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { Branding, KeepDays, KeepDaysChange, Project } from './schema.ts';

interface ProjectRow {
  id: string;
  name: string;
  app_name: string;
  allowed_origins: string[];
  branding: Branding;
  keep_days: KeepDays;
  created_at: Date;
  updated_at: Date;
}

// There is one organization, and it has no row.
const organizationId = '00000000-0000-0000-0000-000000000000';
const columns = 'id, name, app_name, allowed_origins, branding, keep_days, created_at, updated_at';

const get = statement('projects_get', `SELECT ${columns} FROM project WHERE id = $1`);
const byName = statement('projects_by_name', `SELECT ${columns} FROM project WHERE lower(name) = lower($1)`);
const many = statement('projects_list', `SELECT ${columns} FROM project WHERE id = ANY($1) ORDER BY name`);
const oldest = statement('projects_oldest', `SELECT ${columns} FROM project ORDER BY created_at, id LIMIT 1`);
const insert = statement(
  'projects_insert',
  `INSERT INTO project (id, name, app_name) VALUES ($1, $2, $3) RETURNING ${columns}`,
);
const update = statement(
  'projects_update',
  `UPDATE project SET name = coalesce($2, name), app_name = coalesce($3, app_name),
     allowed_origins = coalesce($4, allowed_origins), branding = coalesce($5, branding),
     keep_days = jsonb_strip_nulls(CASE WHEN $6 THEN '{}' ELSE keep_days END || $7::jsonb), updated_at = svc_now()
   WHERE id = $1 RETURNING ${columns}`,
);
const withOrigins = statement(
  'projects_allowed_origins',
  `SELECT id, name, allowed_origins AS origins FROM project WHERE allowed_origins <> '{}'`,
);
const lock = statement(
  'projects_lock_bootstrap',
  `SELECT pg_advisory_xact_lock(hashtextextended('svc:bootstrap', 0))`,
);

/** Held until the transaction ends, so that of two starting nodes one finds the work of the other. */
export async function lockBootstrap(tx: Queryable): Promise<void> {
  await tx.rows(lock);
}

export async function findProject(db: Queryable, id: string): Promise<Project | undefined> {
  return (await db.rows<ProjectRow>(get, [id])).map(present)[0];
}

export async function listProjects(db: Queryable, ids: readonly string[]): Promise<Project[]> {
  return (await db.rows<ProjectRow>(many, [ids])).map(present);
}

export async function findProjectByName(db: Queryable, name: string): Promise<Project | undefined> {
  return (await db.rows<ProjectRow>(byName, [name])).map(present)[0];
}

export async function findOldestProject(db: Queryable): Promise<Project | undefined> {
  return (await db.rows<ProjectRow>(oldest)).map(present)[0];
}

export async function insertProject(
  db: Queryable,
  { id, name, appName }: { id: string; name: string; appName: string },
): Promise<Project> {
  return (await db.rows<ProjectRow>(insert, [id, name, appName])).map(present)[0] as Project;
}

export interface ProjectChange {
  name?: string;
  appName?: string;
  allowedOrigins?: string[];
  branding?: Branding;
  /** Instead of all that it has. */
  keepDays?: KeepDaysChange;
  /** Beside what it has of other kinds. */
  keepDaysOf?: KeepDaysChange;
}

export async function updateProject(
  db: Queryable,
  id: string,
  { name, appName, allowedOrigins, branding, keepDays, keepDaysOf }: ProjectChange,
): Promise<Project | undefined> {
  const branded = branding === undefined ? null : JSON.stringify(branding);
  const days = JSON.stringify({ ...keepDays, ...keepDaysOf });
  const values = [
    id,
    name ?? null,
    appName ?? null,
    allowedOrigins ?? null,
    branded,
    keepDays !== undefined,
    days,
  ];
  return (await db.rows<ProjectRow>(update, values)).map(present)[0];
}

/** Of every project that has any. */
export async function loadAllowedOrigins(
  db: Queryable,
): Promise<{ id: string; name: string; origins: string[] }[]> {
  return db.rows(withOrigins);
}

function present(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    appName: row.app_name,
    allowedOrigins: row.allowed_origins,
    branding: row.branding,
    keepDays: row.keep_days,
    orgId: organizationId,
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
