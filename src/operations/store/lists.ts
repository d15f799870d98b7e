import type { Reach } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { openable } from '../../kit/db/openable.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import type { OperationQuery } from '../schema.ts';
import { groupOfOperation, isKept, operationColumns, type OperationRow } from './read.ts';

/** What a list is asked for; all of it holds. */
export interface OperationFilter extends Pick<
  OperationQuery,
  | 'status'
  | 'object'
  | 'groupRef'
  | 'installationId'
  | 'actionType'
  | 'errorCategory'
  | 'partlyDone'
  | 'unresolved'
> {
  /** UUIDv7s: from the first on, before the second. */
  from: string;
  until: string;
  /** What was accepted later by the clock of the database is left out; in microseconds since the epoch. */
  acceptedUntil?: string;
}

/** An operation where a walk comes by. */
export interface Seen {
  place: string;
  /** Null where the walk comes by something else. */
  id: string | null;
}

type Order = 'newest' | 'oldest';

/** `$2` and `$3`: the ids that bound a walk, the one it comes from left out; `$4`: how many it looks at. */
const withinOf: Record<Order, (id: string) => string> = {
  newest: (id) => `${id} < $2::uuid AND ${id} >= $3::uuid ORDER BY ${id} DESC LIMIT $4`,
  oldest: (id) => `${id} > $2::uuid AND ${id} < $3::uuid ORDER BY ${id} LIMIT $4`,
};
const within = withinOf.newest;

/** Each walk goes by one index. */
const walksBy = (order: Order, suffix: string) => ({
  project: statement(
    `operations_of_project${suffix}`,
    `SELECT id AS place, id FROM operation WHERE project_id = $1 AND ${withinOf[order]('id')}`,
  ),
  installation: statement(
    `operations_of_installation${suffix}`,
    `SELECT id AS place, id FROM operation WHERE project_id = $1 AND installation_id = $5 AND ${withinOf[order]('id')}`,
  ),
  group: statement(
    `operations_of_group${suffix}`,
    `SELECT x.id AS place, x.id FROM (
      SELECT i.id FROM installation i WHERE i.project_id = $1 AND i.group_ref = $5
      UNION ALL SELECT i.id FROM former_installation i WHERE i.project_id = $1 AND i.group_ref = $5) i
    CROSS JOIN LATERAL (SELECT id FROM operation o WHERE o.installation_id = i.id AND ${withinOf[order]('o.id')}) x
    ORDER BY x.id ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT $4`,
  ),
  marked: statement(
    `operations_marked${suffix}`,
    `SELECT operation_id AS place, operation_id AS id FROM operation_mark
    WHERE project_id = $1 AND mark = $5 AND ${withinOf[order]('operation_id')}`,
  ),
});

/** What is not under way, from the oldest on. */
const fromOldest = walksBy('oldest', '_oldest');
const walks = {
  ...walksBy('newest', ''),
  gathering: statement(
    'operations_gathering',
    `SELECT id AS place, id FROM ab_batch WHERE project_id = $1 AND ${within('id')}`,
  ),
  gatheringOfGroup: statement(
    'operations_gathering_of_group',
    `SELECT b.id AS place, b.id FROM ab_batch b WHERE b.project_id = $1 AND EXISTS (
      SELECT FROM operation o JOIN installation n ON n.project_id = o.project_id AND n.id = o.installation_id
      WHERE o.project_id = $1 AND o.id = b.id AND n.group_ref = $5)
    AND ${within('b.id')}`,
  ),
  /** What is under way has work. An index of operations by status would make each of their updates dearer. */
  queued: statement(
    'operations_queued',
    `SELECT seq AS place, CASE WHEN kind IN ('write', 'read') THEN ref END AS id FROM work
    WHERE project_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
  ),
} satisfies Record<string, Statement>;

// A batch that gathers is accepted when it leaves: what was sent at once meanwhile was before it.
const acceptedAt = 'coalesce(o.left_at, o.created_at)';

// One by one, by the whole key: another plan reads all of a partition that was empty once.
const askedFor = (category: string): string => `FROM unnest($2::uuid[]) AS i(id)
  CROSS JOIN LATERAL (SELECT * FROM operation o WHERE o.project_id = $1 AND o.id = i.id LIMIT 1) o
  WHERE o.id < $3 AND o.id >= $4 AND ${isKept}
    AND (coalesce($5::text, $6::text) IS NULL OR (
      SELECT g.ref = coalesce($5, g.ref) AND g.ref = coalesce($6, g.ref) FROM (SELECT ${groupOfOperation} AS ref) g))
    AND ($7::text IS NULL OR lower(o.resource) = lower($7)) AND ($8::uuid IS NULL OR o.installation_id = $8)
    AND ($9::text IS NULL OR o.status = $9) AND ($10::text IS NULL OR o.action_type = $10)
    AND ($11::text IS NULL OR ${category})
    AND ($12::boolean IS NOT TRUE OR EXISTS (
      SELECT FROM operation_mark m WHERE m.project_id = $1 AND m.mark = 'unresolved' AND m.operation_id = o.id))
    AND ($13::boolean IS NOT TRUE OR o.status = 'success' AND o.failed + o.unknown > 0)
    AND ($14::bigint IS NULL OR ${acceptedAt} <= 'epoch'::timestamptz + $14 * interval '1 microsecond')`;
// What is under way has no marks yet.
const pick = statement(
  'operations_pick',
  `SELECT ${operationColumns} ${askedFor(`EXISTS (
    SELECT FROM json_array_elements(${openable('o.errors')}) e WHERE e->>'category' = $11)`)}`,
);
const pickAcceptances = statement(
  'operations_acceptances',
  `SELECT o.id, (extract(epoch FROM ${acceptedAt}) * 1000000)::float8 AS accepted ${askedFor(`EXISTS (
    SELECT FROM operation_mark m WHERE m.project_id = $1 AND m.mark = $11 AND m.operation_id = o.id)`)}`,
);

/** How a list goes through what there is. A walk that is over goes on in the next. */
export type Walk = EitherWay | 'gathering' | 'queued';

/** The mark that leaves least to be looked at; undefined where what is asked for has none. */
export function markOf(
  filter: Pick<OperationFilter, 'status' | 'errorCategory' | 'partlyDone' | 'unresolved'>,
): string | undefined {
  if (filter.unresolved === true) return 'unresolved';
  if (filter.partlyDone === true) return 'partlyDone';
  return filter.errorCategory ?? (filter.status === 'failure' ? filter.status : undefined);
}

/** The walks that go either way. */
export type EitherWay = keyof typeof fromOldest;

/** What a walk goes by beside its ids. */
function ownOf(name: EitherWay, { groupRef }: Reach, filter: OperationFilter): unknown[] {
  const of: Record<EitherWay, unknown[]> = {
    project: [],
    installation: [filter.installationId],
    group: [filter.groupRef ?? groupRef],
    marked: [markOf(filter)],
  };
  return of[name];
}

/** The next operations of a walk from the newest on, from after a place on, `limit` of them looked at; fewer at its end. */
export function walk(
  db: Queryable,
  name: Walk,
  reach: Reach,
  filter: OperationFilter,
  after: string,
  limit: number,
): Promise<Seen[]> {
  const { projectId, groupRef } = reach;
  // The place is a number of the queue, and no operation.
  if (name === 'queued') return db.rows<Seen>(walks.queued, [projectId, after, limit]);
  const before = after < filter.until ? after : filter.until;
  const bounds = [projectId, before, filter.from, limit];
  if (name !== 'gathering') return db.rows<Seen>(walks[name], [...bounds, ...ownOf(name, reach, filter)]);
  return groupRef === undefined
    ? db.rows<Seen>(walks.gathering, bounds)
    : db.rows<Seen>(walks.gatheringOfGroup, [...bounds, groupRef]);
}

/** The same from the oldest on. */
export function walkFromOldest(
  db: Queryable,
  name: EitherWay,
  reach: Reach,
  filter: OperationFilter,
  after: string,
  limit: number,
): Promise<Seen[]> {
  const begin = after > filter.from ? after : filter.from;
  const bounds = [reach.projectId, begin, filter.until, limit];
  return db.rows<Seen>(fromOldest[name], [...bounds, ...ownOf(name, reach, filter)]);
}

const moment = statement(
  'operations_moment',
  'SELECT (extract(epoch FROM svc_now()) * 1000000)::bigint::text AS moment',
);

/** By the clock of the database, in microseconds since the epoch. */
export async function momentNow(db: Queryable): Promise<string> {
  const [row] = await db.rows<{ moment: string }>(moment);
  return row?.moment ?? '0';
}

/** Those of the operations that are asked for, in any order. */
export async function pickOperations(
  db: Queryable,
  reach: Reach,
  filter: OperationFilter,
  ids: readonly string[],
): Promise<OperationRow[]> {
  return ids.length === 0 ? [] : db.rows<OperationRow>(pick, picked(reach, filter, ids));
}

/** When an operation was accepted, by the clock of the database, in microseconds since the epoch. */
export interface Acceptance {
  id: string;
  accepted: number;
}

/** The same of when they were accepted. */
export async function acceptancesOf(
  db: Queryable,
  reach: Reach,
  filter: OperationFilter,
  ids: readonly string[],
): Promise<Acceptance[]> {
  return ids.length === 0 ? [] : db.rows<Acceptance>(pickAcceptances, picked(reach, filter, ids));
}

function picked(reach: Reach, filter: OperationFilter, ids: readonly string[]): unknown[] {
  return [
    reach.projectId,
    ids,
    filter.until,
    filter.from,
    reach.groupRef ?? null,
    filter.groupRef ?? null,
    filter.object ?? null,
    filter.installationId ?? null,
    filter.status ?? null,
    filter.actionType ?? null,
    filter.errorCategory ?? null,
    filter.unresolved ?? null,
    filter.partlyDone ?? null,
    filter.acceptedUntil ?? null,
  ];
}
