import type { Queryable } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import type { Slice } from '../../kit/paging.ts';

export type DestinationStatus = 'active' | 'disabled';
/** Whether what is sent there arrives: `failing` is active, and nothing succeeded there since a failure. */
export type DestinationState = 'active' | 'failing' | 'disabled';

export interface DestinationRow {
  project_id: string;
  id: string;
  name: string;
  type: string;
  metadata: Record<string, unknown>;
  secrets: Buffer;
  status: DestinationStatus;
  reason: string | null;
  failing_since: Date | null;
  /** The project wants the content of messages kept that were delivered. */
  keeps_delivered: boolean;
  /** The smallest id of the messages that it still wants kept. */
  kept_from: string;
  created_at: Date;
  updated_at: Date;
}

const columns = `d.project_id, d.id, d.name, d.type, d.metadata, d.secrets, d.status, d.reason, d.failing_since,
  svc_keeps(d.project_id, 'messages') AS keeps_delivered, svc_kept_from(d.project_id, 'messages') AS kept_from,
  d.created_at, d.updated_at`;

const state = `CASE WHEN d.status = 'active' AND d.failing_since IS NOT NULL THEN 'failing' ELSE d.status END`;

// One look-up for each way to be known: with both in one condition all destinations of the project are read for every key.
const load = statement(
  'destinations_load',
  `SELECT i.n::int AS n, ${columns}
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS i(project_id, id, name, n)
  CROSS JOIN LATERAL (
    (SELECT * FROM destination d WHERE d.project_id = i.project_id AND d.id = i.id LIMIT 1)
    UNION ALL
    (SELECT * FROM destination d WHERE d.project_id = i.project_id AND lower(d.name) = lower(i.name) LIMIT 1)) d`,
);

const list = statement(
  'destinations_list',
  `SELECT ${columns} FROM destination d
  WHERE d.project_id = $1 AND ($2::uuid IS NULL OR d.id < $2) AND ($4::text IS NULL OR $4 = ${state})
  ORDER BY d.id DESC LIMIT $3`,
);
const count = statement(
  'destinations_count',
  `SELECT count(*)::int AS count FROM destination d WHERE d.project_id = $1 AND $2 = ${state}`,
);
const insert = statement(
  'destination_insert',
  `INSERT INTO destination AS d (project_id, id, name, type, metadata, secrets) VALUES ($1, $2, $3, $4, $5, $6)
  RETURNING ${columns}`,
);
const locking = (strength: string): string =>
  `SELECT ${columns} FROM destination d WHERE d.project_id = $1 AND (d.id = $2 OR lower(d.name) = lower($3)) FOR ${strength}`;
const hold = statement('destination_hold', locking('KEY SHARE'));
const lock = statement('destination_lock', locking('NO KEY UPDATE'));
/** Waits for who queues something for it ({@link standing}): what is asked after it sees that. */
const lockToDelete = statement('destination_lock_to_delete', locking('UPDATE'));
const update = statement(
  'destination_update',
  `UPDATE destination d SET name = $3, metadata = $4, secrets = $5, updated_at = svc_now()
  WHERE d.project_id = $1 AND d.id = $2 RETURNING ${columns}`,
);
const setStatus = statement(
  'destination_set_status',
  `UPDATE destination d SET status = $3, reason = $4, updated_at = svc_now()
  WHERE d.project_id = $1 AND d.id = $2 AND (d.status <> $3 OR $3 = 'active') RETURNING ${columns}`,
);
const endFailing = statement(
  'destination_end_failing',
  `UPDATE destination SET failing_since = NULL
  WHERE project_id = $1 AND id = $2 AND status = 'active' AND failing_since IS NOT NULL`,
);
// What is under way in the lanes of nodes is found among all that is under way: that is little, and has an index.
const remove = statement(
  'destination_delete',
  `WITH gone AS (DELETE FROM destination WHERE project_id = $1 AND id = $2 RETURNING id)
  SELECT (SELECT count(*) FROM work w WHERE w.project_id = $1 AND w.lane_id = $2 AND w.state = 0 AND w.kind = 'delivery')::int
    + (SELECT count(*) FROM work w WHERE w.project_id = $1 AND coalesce(w.home_id, w.lane_id) = $2 AND w.state = 1
      AND w.kind = 'delivery')::int AS waiting
  FROM gone`,
);

/** One of id and name. */
export interface DestinationKey {
  projectId: string;
  id?: string;
  name?: string;
}

/** Those that exist, each with the number of its key, from 1. */
export function loadDestinations(
  db: Queryable,
  keys: readonly DestinationKey[],
): Promise<(DestinationRow & { n: number })[]> {
  return db.rows(load, [
    keys.map(({ projectId }) => projectId),
    keys.map(({ id }) => id ?? null),
    keys.map(({ name }) => name ?? null),
  ]);
}

/** Newest first. */
export function listDestinations(
  db: Queryable,
  projectId: string,
  { beforeId = null, limit = null, state: wanted = null }: Slice & { state?: DestinationState | null } = {},
): Promise<DestinationRow[]> {
  return db.rows(list, [projectId, beforeId, limit, wanted]);
}

export async function countDestinations(
  db: Queryable,
  projectId: string,
  wanted: DestinationState,
): Promise<number> {
  const [row] = await db.rows<{ count: number }>(count, [projectId, wanted]);
  return row?.count ?? 0;
}

export type DestinationValues = Pick<
  DestinationRow,
  'project_id' | 'id' | 'name' | 'type' | 'metadata' | 'secrets'
>;

export async function insertDestination(
  db: Queryable,
  { project_id, id, name, type, metadata, secrets }: DestinationValues,
): Promise<DestinationRow | undefined> {
  const values = [project_id, id, name, type, JSON.stringify(metadata), secrets];
  return (await db.rows<DestinationRow>(insert, values))[0];
}

const lockingBy =
  (by: Statement) =>
  async (tx: Queryable, { projectId, id, name }: DestinationKey): Promise<DestinationRow | undefined> =>
    (await tx.rows<DestinationRow>(by, [projectId, id ?? null, name ?? null]))[0];

/** It stays until the transaction ends, though it may change. */
export const holdDestination = lockingBy(hold);
/** Held until the transaction ends. */
export const lockDestination = lockingBy(lock);
export const lockDestinationToDelete = lockingBy(lockToDelete);

export async function updateDestination(
  tx: Queryable,
  { project_id, id, name, metadata, secrets }: DestinationValues,
): Promise<DestinationRow | undefined> {
  return (
    await tx.rows<DestinationRow>(update, [project_id, id, name, JSON.stringify(metadata), secrets])
  )[0];
}

/** Undefined when there is none, or it was disabled already. Enabling one that is active begins the time anew for which it may fail. */
export async function setDestinationStatus(
  tx: Queryable,
  { projectId, id }: { projectId: string; id: string },
  status: DestinationStatus,
  reason: string | null,
): Promise<DestinationRow | undefined> {
  return (await tx.rows<DestinationRow>(setStatus, [projectId, id, status, reason]))[0];
}

/** Something was taken there. */
export async function endDestinationFailing(
  db: Queryable,
  { project_id, id }: DestinationRow,
): Promise<void> {
  await db.rows(endFailing, [project_id, id]);
}

/** A part `standing`: the rows of a CTE with project_id and destination_id whose destination is there, and stays until the commit. */
export const standing = (source: string): string => `standing AS MATERIALIZED (
    SELECT i.* FROM ${source} i
    CROSS JOIN LATERAL (
      SELECT FROM destination d WHERE d.project_id = i.project_id AND d.id = i.destination_id FOR KEY SHARE OF d) d)`;

/** How many deliveries wait for it; undefined when there is none. */
export async function deleteDestination(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<number | undefined> {
  return (await tx.rows<{ waiting: number }>(remove, [projectId, id]))[0]?.waiting;
}
