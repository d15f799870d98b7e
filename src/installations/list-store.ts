import type { Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { documentPage, type Followed } from '../kit/db/document-page.ts';
import { statement, type Statement } from '../kit/db/statement.ts';
import { lastId, type Slice } from '../kit/paging.ts';
import { columns, isUnhealthy, joined, type InstallationRow } from './store.ts';

export interface InstallationFilter {
  integrationId?: string | undefined;
  groupRef?: string | undefined;
  unhealthy?: boolean | undefined;
}

const keys = { integration: 'n.integration_id', group: 'n.group_ref' } as const;
type Key = keyof typeof keys;
const healths = { any: '', unhealthy: isUnhealthy, healthy: `NOT ${isUnhealthy}` } as const;
type Health = keyof typeof healths;

// One statement for each question: one for all, with `$n IS NULL OR`, has a plan that reads every installation of the project. What a
// page does not show is not joined.
function listOf(by: readonly Key[], health: Health): Statement {
  const conditions = by.map((key, index) => `AND ${keys[key]} = $${index + 4}`);
  if (health !== 'any') conditions.push(`AND ${healths[health]}`);
  return statement(
    `installations_of_${['project', ...by].join('_')}_${health}`,
    documentPage({
      ids: `SELECT n.id FROM installation n
        LEFT JOIN connection k ON k.project_id = n.project_id AND k.id = n.connection_id
        WHERE n.project_id = $1 AND n.id < $2 ${conditions.join(' ')} ORDER BY n.id DESC LIMIT $3`,
      bytes: `SELECT octet_length(c.content::text) FROM installation n
        JOIN config c ON c.project_id = n.project_id AND c.installation_id = n.id AND c.id = n.config_id
        WHERE n.project_id = $1 AND n.id = page.id`,
      row: `SELECT ${columns} FROM installation n ${joined} WHERE n.project_id = $1 AND n.id = page.id`,
    }),
  );
}

const lists = new Map(
  ([[], ['integration'], ['group'], ['integration', 'group']] as const).flatMap((by) =>
    (['any', 'unhealthy', 'healthy'] as const).map((health) => [
      `${by.join()} ${health}`,
      listOf(by, health),
    ]),
  ),
);

/** Newest first, as much as fits a page. */
export async function listInstallations(
  db: Queryable,
  reach: Reach,
  { integrationId, groupRef = reach.groupRef, unhealthy }: InstallationFilter,
  { beforeId, limit = null }: Slice = {},
): Promise<(InstallationRow & Followed)[]> {
  if (reach.groupRef !== undefined && groupRef !== reach.groupRef) return [];
  const asked = { integration: integrationId, group: groupRef };
  const by = (['integration', 'group'] as const).filter((key) => asked[key] !== undefined);
  const health = unhealthy === undefined ? 'any' : unhealthy ? 'unhealthy' : 'healthy';
  const list = lists.get(`${by.join()} ${health}`);
  if (!list) throw new Error(`no list of installations by ${by.join()}`);
  return db.rows<InstallationRow & Followed>(list, [
    reach.projectId,
    beforeId ?? lastId,
    limit,
    ...by.map((key) => asked[key]),
  ]);
}
