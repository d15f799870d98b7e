import { branch, type Found, type Reach, type Sought } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { isUnhealthy } from './store.ts';

const byId = statement(
  'installations_find',
  branch(`SELECT 'installation' AS type, id::text, group_ref AS name, group_ref AS "groupRef", integration_id::text AS "integrationId",
     id::text AS "installationId"
   FROM installation WHERE project_id = $1 AND id BETWEEN $2 AND $3 AND ($4::text IS NULL OR group_ref = $4)`),
);

export async function findInstallations(db: Queryable, reach: Reach, { range }: Sought): Promise<Found[]> {
  if (!range) return [];
  return db.rows<Found>(byId, [reach.projectId, range.from, range.to, reach.groupRef ?? null]);
}

/** Health is of a few numbers that change with each operation: an index of it would make those changes dearer. */
const mostLookedAt = 10_000;

const failing = statement(
  'installations_failing',
  `SELECT count(*)::int AS count FROM (
     SELECT n.* FROM installation n WHERE n.project_id = $1 ORDER BY n.id DESC LIMIT ${mostLookedAt}) n
   LEFT JOIN connection k ON k.project_id = n.project_id AND k.id = n.connection_id WHERE ${isUnhealthy}`,
);

/** Of the newest installations, those that are unhealthy. */
export async function countUnhealthy(db: Queryable, projectId: string): Promise<number> {
  const [row] = await db.rows<{ count: number }>(failing, [projectId]);
  return row?.count ?? 0;
}
