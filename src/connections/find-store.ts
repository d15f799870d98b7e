import { beginsWith, branch, searchKey, type Found, type Reach, type Sought } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { isAside } from './aside.ts';

const byId = statement(
  'connections_find_any',
  `SELECT 'connection' AS type, id::text, provider AS name, group_ref AS "groupRef" FROM connection
   WHERE project_id = $1 AND id BETWEEN $2 AND $3 AND ($4::text IS NULL OR group_ref = $4) LIMIT 5`,
);

const group = `SELECT 'group' AS type, group_ref AS id, name, group_ref AS "groupRef" FROM customer_group`;
const consumer = `SELECT 'consumer' AS type, consumer_ref AS id, name, group_ref AS "groupRef" FROM group_consumer`;

const byName = statement(
  'connections_find_named',
  `${branch(`${group} WHERE ($3::text IS NULL OR group_ref = $3) AND ${beginsWith('group_ref', '$2')}
     ORDER BY ${searchKey('group_ref')}`)}
   UNION ALL ${branch(`${group} WHERE ($3::text IS NULL OR group_ref = $3) AND ${beginsWith('name', '$2')}
     ORDER BY ${searchKey('name')}`)}
   UNION ALL ${branch(`${consumer} WHERE ($3::text IS NULL OR group_ref = $3) AND ${beginsWith('consumer_ref', '$2')}
     ORDER BY ${searchKey('consumer_ref')}`)}
   UNION ALL ${branch(`${consumer} WHERE ($3::text IS NULL OR group_ref = $3) AND ${beginsWith('name', '$2')}
     ORDER BY ${searchKey('name')}`)}`,
);

/** Connections, groups and consumers. */
export async function findConnections(
  db: Queryable,
  { projectId, groupRef }: Reach,
  { range, text }: Sought,
): Promise<Found[]> {
  const [ids, names] = await Promise.all([
    range ? db.rows<Found>(byId, [projectId, range.from, range.to, groupRef ?? null]) : [],
    db.rows<Found>(byName, [projectId, text, groupRef ?? null]),
  ]);
  return [...ids, ...names];
}

const bad = statement(
  'connections_bad',
  `SELECT count(*)::int AS count FROM (
     SELECT FROM connection WHERE project_id = $1 AND status = 'bad_credentials' AND NOT ${isAside()} LIMIT $2) c`,
);

/** Connections whose customer must connect again, not what was set aside beside others; counted to a bound. */
export async function countBadConnections(db: Queryable, projectId: string, most: number): Promise<number> {
  const [row] = await db.rows<{ count: number }>(bad, [projectId, most]);
  return row?.count ?? 0;
}

const closed = statement(
  'connections_closed',
  `SELECT b.connection_id AS "connectionId", c.group_ref AS "groupRef", c.provider, b.locked_out AS "lockedOut",
     b.closed_until AS "closedUntil"
   FROM budget b JOIN connection c ON c.project_id = b.project_id AND c.id = b.connection_id
   WHERE b.project_id = $1 AND b.closed_until > svc_now() ORDER BY b.closed_until DESC LIMIT $2`,
);

export interface ClosedBudget {
  connectionId: string;
  groupRef: string;
  provider: string;
  lockedOut: boolean;
  closedUntil: Date;
}

/** Connections to whose provider nothing is sent now, since it said that its limit is reached. */
export function closedBudgets(db: Queryable, projectId: string, most: number): Promise<ClosedBudget[]> {
  return db.rows<ClosedBudget>(closed, [projectId, most]);
}
