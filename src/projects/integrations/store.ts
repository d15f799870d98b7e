import type { Queryable } from '../../kit/db/database.ts';
import { documentPage, type Followed } from '../../kit/db/document-page.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ManifestIntegration } from '../schema.ts';
import type { RetainedObject } from './retained.ts';

/** One deployed state of an integration; immutable. */
export interface Revision {
  id: string;
  specVersion: string;
  content: ManifestIntegration;
  /** What earlier revisions had, for the installations of then. */
  retained: RetainedObject[];
  createdAt: Date;
}

export interface Integration {
  id: string;
  projectId: string;
  name: string;
  provider: string;
  createdAt: Date;
  updatedAt: Date;
  latestRevision: Revision;
}

export type ListedIntegration = Integration & Followed;

interface IntegrationRow {
  id: string;
  project_id: string;
  name: string;
  provider: string;
  created_at: Date;
  updated_at: Date;
  revision_id: string;
  spec_version: string;
  content: ManifestIntegration;
  retained: RetainedObject[] | null;
  revision_created_at: Date;
}

const columns = `i.id, i.project_id, i.name, i.provider, i.created_at, i.updated_at,
    r.id AS revision_id, r.spec_version, r.content, r.retained, r.created_at AS revision_created_at`;
const latest = `JOIN revision r
    ON r.project_id = i.project_id AND r.integration_id = i.id AND r.id = i.latest_revision_id`;
const select = `SELECT ${columns} FROM integration i ${latest}`;

const list = statement('integrations_list', `${select} WHERE i.project_id = $1 ORDER BY i.name`);
const pageBy = (behind: string, order: string): string =>
  documentPage({
    ids: `SELECT i.id FROM integration i WHERE i.project_id = $1 AND ${behind} ORDER BY ${order} LIMIT $2`,
    bytes: `SELECT octet_length(r.content::text) + coalesce(octet_length(r.retained::text), 0) FROM integration i ${latest}
      WHERE i.project_id = $1 AND i.id = page.id`,
    row: `${select} WHERE i.project_id = $1 AND i.id = page.id`,
  });
const byNamePage = statement('integrations_page_by_name', pageBy('i.name > $3', 'i.name'));
// As exact as it is shown.
const madeAt = `date_trunc('milliseconds', i.created_at), i.id`;
const byTimePage = statement(
  'integrations_page_by_time',
  pageBy(`($3::timestamptz IS NULL OR (${madeAt}) > ($3, $4::uuid))`, madeAt),
);
const byId = statement('integrations_by_id', `${select} WHERE i.project_id = $1 AND i.id = $2`);
const byName = statement('integrations_by_name', `${select} WHERE i.project_id = $1 AND i.name = $2`);
const insert = statement(
  'integrations_insert',
  `INSERT INTO integration (project_id, id, name, provider, latest_revision_id) VALUES ($1, $2, $3, $4, $5)`,
);
const insertRevisionRow = statement(
  'revisions_insert',
  `INSERT INTO revision (project_id, integration_id, id, spec_version, content, destructive, retained)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);
const point = statement(
  'integrations_point',
  `UPDATE integration SET latest_revision_id = $3, updated_at = svc_now() WHERE project_id = $1 AND id = $2`,
);
// Whoever installs it meanwhile holds it, too.
const hold = statement(
  'integrations_hold',
  'SELECT FROM integration WHERE project_id = $1 AND id = $2 FOR UPDATE',
);
const holdToRevise = statement(
  'integrations_hold_to_revise',
  'SELECT FROM integration WHERE project_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE',
);
const remove = statement(
  'integrations_delete',
  'DELETE FROM integration WHERE project_id = $1 AND id = $2 RETURNING id',
);
const removeRevisions = statement(
  'revisions_delete',
  'DELETE FROM revision WHERE project_id = $1 AND integration_id = $2',
);
const listRevisionRows = statement(
  'revisions_list',
  documentPage({
    ids: `SELECT id FROM revision WHERE project_id = $1 AND integration_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4`,
    bytes: `SELECT octet_length(content::text) FROM revision
      WHERE project_id = $1 AND integration_id = $2 AND id = page.id`,
    row: `SELECT id, spec_version, content, created_at FROM revision
      WHERE project_id = $1 AND integration_id = $2 AND id = page.id`,
  }),
);
const now = statement('integrations_now', 'SELECT svc_now() + (clock_timestamp() - now()) AS now');
const lock = statement(
  'integrations_lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('svc:deploy:' || $1, 0))`,
);

/** Deploys of one project follow one another; held until the transaction ends. */
export async function lockDeploys(tx: Queryable, projectId: string): Promise<void> {
  await tx.rows(lock, [projectId]);
}

/** What the clock that dates rows says now, however long ago the transaction began. */
export async function clockTime(db: Queryable): Promise<string> {
  const [row] = await db.rows<{ now: Date }>(now, []);
  return (row?.now ?? new Date()).toISOString();
}

export async function listIntegrations(db: Queryable, projectId: string): Promise<Integration[]> {
  return (await db.rows<IntegrationRow>(list, [projectId])).map(fromRow);
}

/** By their names, behind `name`; as many as fit a page. */
export async function integrationsBehind(
  db: Queryable,
  projectId: string,
  name: string,
): Promise<ListedIntegration[]> {
  return pageFrom(await db.rows<IntegrationRow & Followed>(byNamePage, [projectId, null, name]));
}

/** The same in the order in which they were made, behind the one that was made at `createTime`. */
export async function integrationsMadeAfter(
  db: Queryable,
  projectId: string,
  { createTime, id, limit }: { createTime: string; id: string; limit: number },
): Promise<ListedIntegration[]> {
  const values = [projectId, limit, createTime || null, id || null];
  return pageFrom(await db.rows<IntegrationRow & Followed>(byTimePage, values));
}

function pageFrom(rows: (IntegrationRow & Followed)[]): ListedIntegration[] {
  return rows.map((row) => ({ ...fromRow(row), followed: row.followed }));
}

export async function findIntegrationById(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Integration | undefined> {
  return (await db.rows<IntegrationRow>(byId, [projectId, id])).map(fromRow)[0];
}

export async function findIntegrationByName(
  db: Queryable,
  projectId: string,
  name: string,
): Promise<Integration | undefined> {
  return (await db.rows<IntegrationRow>(byName, [projectId, name])).map(fromRow)[0];
}

interface RevisionRow {
  id: string;
  spec_version: string;
  content: ManifestIntegration;
  created_at: Date;
}

/** The newest first, below `beforeId`; as many as fit a page. */
export async function listRevisions(
  db: Queryable,
  projectId: string,
  integrationId: string,
  { beforeId, limit }: { beforeId: string; limit: number },
): Promise<(Omit<Revision, 'retained'> & Followed)[]> {
  const rows = await db.rows<RevisionRow & Followed>(listRevisionRows, [
    projectId,
    integrationId,
    beforeId,
    limit,
  ]);
  return rows.map(({ id, spec_version: specVersion, content, created_at: createdAt, ...row }) => ({
    id,
    specVersion,
    content,
    createdAt,
    followed: row.followed,
  }));
}

export interface NewRevision {
  id: string;
  specVersion: string;
  content: ManifestIntegration;
  destructive: boolean;
  retained: RetainedObject[];
}

export async function insertIntegration(
  tx: Queryable,
  projectId: string,
  integration: { id: string; name: string; provider: string },
  revision: NewRevision,
): Promise<void> {
  const { id, name, provider } = integration;
  await tx.rows(insert, [projectId, id, name, provider, revision.id]);
  await insertRevision(tx, projectId, id, revision);
}

/** Adds a revision and makes it the latest one. */
export async function reviseIntegration(
  tx: Queryable,
  projectId: string,
  integrationId: string,
  revision: NewRevision,
): Promise<void> {
  await insertRevision(tx, projectId, integrationId, revision);
  await tx.rows(point, [projectId, integrationId, revision.id]);
}

async function insertRevision(
  tx: Queryable,
  projectId: string,
  integrationId: string,
  revision: NewRevision,
): Promise<void> {
  const { id, specVersion, content, destructive, retained } = revision;
  const kept = retained.length > 0 ? JSON.stringify(retained) : null;
  await tx.rows(insertRevisionRow, [projectId, integrationId, id, specVersion, content, destructive, kept]);
}

/** Nobody installs it until the transaction ends; false when it is gone. */
export async function holdIntegration(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await tx.rows(hold, [projectId, id])).length > 0;
}

/** Nobody installs them until the transaction ends. Who was at it has committed, and is dated before what the clock says next. */
export async function holdIntegrationsToRevise(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.rows(holdToRevise, [projectId, ids]);
}

export async function deleteIntegration(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  await tx.rows(removeRevisions, [projectId, id]);
  return (await tx.rows(remove, [projectId, id])).length > 0;
}

function fromRow(row: IntegrationRow): Integration {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    provider: row.provider,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    latestRevision: {
      id: row.revision_id,
      specVersion: row.spec_version,
      content: row.content,
      retained: row.retained ?? [],
      createdAt: row.revision_created_at,
    },
  };
}
