import type { Queryable } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import { earliestAcceptance, type OperationError, type TakenItem } from '../work.ts';
import { itsTurn, markedOrParked, priorities, type LaneKey } from './lanes.ts';

/** Lanes of the caller whose lease holds. The key-share lock keeps claims and give-backs out until the commit (rule 4). */
const heldLanes = (condition: string): string => `held AS MATERIALIZED (
  SELECT l.project_id, l.id, l.lease, l.wakes, l.not_before, l.kind, i.room
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[]) AS i(project_id, id, lease, room)
  JOIN lane l ON l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease
  WHERE l.due_at > (SELECT now FROM clock) ${condition}
  FOR KEY SHARE OF l)`;

/** What an executor needs of a marked row `m`: the operation, and its records without an outcome. */
const itemColumns = `m.project_id, m.seq, m.lane_id, m.lease, m.attempt, m.expired, m.operation_id,
  extract(epoch FROM m.deadline - (SELECT now FROM clock)) * 1000 AS remaining_ms,
  extract(epoch FROM (SELECT now FROM clock) - o.created_at) * 1000 AS age_ms,
  o.integration_id, o.installation_id, o.config_id, o.action_type, o.resource, o.request, o.total,
  o.succeeded, o.failed, o.unknown, o.errors, r.records, r.bytes`;

/** The payloads of an item that is larger are read apart, when there is room for them in memory. */
const largeFromBytes = 256 * 1024;

// LIMIT keeps the look-up apart, so that no plan reads all of a partition that was empty once.
const itemSources = `CROSS JOIN LATERAL (
    SELECT * FROM operation o WHERE o.project_id = m.project_id AND o.id = m.operation_id LIMIT 1) o
  CROSS JOIN LATERAL (
    SELECT max(r.upto) AS bytes, CASE WHEN max(r.upto) <= ${largeFromBytes} THEN
      json_agg(json_build_object('index', r.slot, 'payload', r.payload) ORDER BY r.slot) FILTER (WHERE r.upto <= ${largeFromBytes})
      END AS records
    FROM (SELECT r.slot, r.payload, sum(octet_length(r.payload::text)) OVER (ORDER BY r.slot) AS upto
      FROM record r
      WHERE r.project_id = m.project_id AND r.operation_id = m.operation_id AND r.outcome IS NULL) r) r`;

/**
 * Take is mark: what is returned has its attempt committed before its first byte (rule 6). Past its deadline: not marked;
 * and so what waited for its turn on a node that is gone, and which nobody sends. The more urgent first.
 */
const takeItems = statement(
  'work_take',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now), ${heldLanes('AND NOT l.paused')},
  chosen AS MATERIALIZED (
    SELECT w.project_id, w.seq, h.lease, w.expired FROM held h CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT w.project_id, w.seq, true AS expired FROM work w
        WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 2
          AND w.deadline <= CASE h.kind WHEN 'node' THEN 'infinity' ELSE (SELECT now FROM clock) END
        ORDER BY w.deadline LIMIT h.room FOR UPDATE OF w SKIP LOCKED) late
      UNION ALL
      SELECT w.* FROM ${priorities} CROSS JOIN LATERAL (
        SELECT w.project_id, w.seq, w.deadline <= (SELECT now FROM clock) AS expired FROM work w
        WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 0 AND w.prio = p.prio
          AND w.due_at <= (SELECT now FROM clock) AND w.lease IS DISTINCT FROM h.lease
          AND (w.deadline <= (SELECT now FROM clock) OR (h.not_before <= (SELECT now FROM clock) AND ${itsTurn}))
        ORDER BY w.due_at, w.seq LIMIT h.room FOR UPDATE OF w SKIP LOCKED) w
      LIMIT h.room) w),
  m AS (
    UPDATE work w SET lease = c.lease, state = (NOT c.expired)::int, attempt = w.attempt + (NOT c.expired)::int
    FROM chosen c WHERE w.project_id = c.project_id AND w.seq = c.seq
    RETURNING w.*, c.expired)
  SELECT ${itemColumns} FROM m ${itemSources} ORDER BY m.prio, m.due_at, m.seq`,
);

/** Sent rows under another's lease: their node died or was cut off, and nobody knows what became of them (rule 4). */
const rescueItems = statement(
  'work_rescue',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now), ${heldLanes('')},
  lost AS MATERIALIZED (
    SELECT w.project_id, w.seq, h.lease FROM held h CROSS JOIN LATERAL (
      SELECT w.project_id, w.seq FROM work w
      WHERE w.project_id = h.project_id AND w.lane_id = h.id AND w.state = 1 AND w.lease IS DISTINCT FROM h.lease
      ORDER BY w.seq LIMIT h.room FOR UPDATE OF w) w),
  m AS (
    UPDATE work w SET lease = l.lease FROM lost l WHERE w.project_id = l.project_id AND w.seq = l.seq
    RETURNING w.*, false AS expired)
  SELECT ${itemColumns} FROM m ${itemSources} ORDER BY m.seq`,
);

/** What stands as sent, or waits for its turn, under the leases of a node and is none of the operations that it knows. */
const findStrayItems = statement(
  'work_stray',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  m AS MATERIALIZED (
    SELECT w.*, false AS expired FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i(project_id, id, lease)
    CROSS JOIN LATERAL (${markedOrParked('w.lease = i.lease')}) w
    WHERE w.operation_id <> ALL ($4::uuid[]) LIMIT 100)
  SELECT ${itemColumns} FROM m ${itemSources}`,
);

const readPayloads = statement(
  'work_payloads',
  `SELECT slot AS index, payload FROM record
  WHERE project_id = $1 AND operation_id = $2 AND outcome IS NULL ORDER BY slot`,
);

/** For a take whose answer was lost: what it may have marked was never sent by us. */
const unmarkItems = statement(
  'work_unmark',
  `UPDATE work SET state = 0, lease = NULL, attempt = attempt - 1
  WHERE project_id = $1 AND lane_id = $2 AND state = 1 AND lease = $3 AND seq <> ALL($4::bigint[])`,
);

interface ItemRow {
  project_id: string;
  seq: string;
  lane_id: string;
  lease: string;
  attempt: number;
  expired: boolean;
  operation_id: string;
  remaining_ms: string;
  age_ms: string;
  integration_id: string;
  installation_id: string;
  config_id: string;
  action_type: string;
  resource: string;
  request: Record<string, unknown>;
  total: number;
  succeeded: number;
  failed: number;
  unknown: number;
  errors: OperationError[] | null;
  records: TakenItem['records'] | null;
  /** Null when no record is without an outcome. */
  bytes: string | null;
}

export type TakeRequest = LaneKey & { room: number };

/** Items to be done now, marked as started under the lane's lease; at most `room` of each lane. */
export async function take(db: Queryable, lanes: readonly TakeRequest[]): Promise<TakenItem[]> {
  return items(db, takeItems, laneColumns(lanes));
}

/** Items that were being sent when their lane was lost; they are ours from now on. At most `room` of each lane. */
export async function rescue(db: Queryable, lanes: readonly TakeRequest[]): Promise<TakenItem[]> {
  return items(db, rescueItems, laneColumns(lanes));
}

export async function findStray(
  db: Queryable,
  lanes: readonly LaneKey[],
  known: readonly string[],
): Promise<TakenItem[]> {
  const [projects, ids, leases] = laneColumns(lanes.map((lane) => Object.assign({ room: 0 }, lane)));
  return items(db, findStrayItems, [projects, ids, leases, known]);
}

export async function unmark(db: Queryable, lane: LaneKey, except: readonly string[]): Promise<void> {
  await db.rows(unmarkItems, [lane.projectId, lane.id, lane.lease, except]);
}

function laneColumns(lanes: readonly TakeRequest[]): unknown[][] {
  return [
    lanes.map((lane) => lane.projectId),
    lanes.map((lane) => lane.id),
    lanes.map((lane) => lane.lease),
    lanes.map((lane) => lane.room),
  ];
}

/** A large item with the payloads that it came without. */
export async function withPayloads(db: Queryable, item: TakenItem): Promise<TakenItem> {
  if (item.unreadBytes === 0) return item;
  const records = await db.rows<TakenItem['records'][number]>(readPayloads, [
    item.projectId,
    item.operationId,
  ]);
  return { ...item, ...recordsAndErrors(item.tally, records, 0) };
}

/** Of the errors so far, those of records that are still open tell how their attempt before ended. */
function recordsAndErrors(
  tally: TakenItem['tally'],
  records: TakenItem['records'],
  unreadBytes: number,
): Pick<TakenItem, 'records' | 'tally' | 'earlier' | 'unreadBytes'> {
  const open = new Set(records.map(({ index }) => index));
  const { errors } = tally;
  return {
    records,
    tally: { ...tally, errors: errors.filter(({ index }) => !open.has(index)) },
    earlier: new Map(errors.filter(({ index }) => open.has(index)).map((error) => [error.index, error])),
    unreadBytes,
  };
}

async function items(db: Queryable, asked: Statement, values: readonly unknown[]): Promise<TakenItem[]> {
  const askedAt = Date.now();
  return (await db.rows<ItemRow>(asked, values)).map((row) => toItem(row, askedAt));
}

function toItem(row: ItemRow, askedAt: number): TakenItem {
  const { succeeded, failed, unknown } = row;
  const tally = { succeeded, failed, unknown, errors: row.errors ?? [] };
  return {
    projectId: row.project_id,
    operationId: row.operation_id,
    integrationId: row.integration_id,
    installationId: row.installation_id,
    configId: row.config_id,
    laneId: row.lane_id,
    actionType: row.action_type,
    resource: row.resource,
    request: row.request,
    attempt: row.attempt,
    acceptedAt: earliestAcceptance(row.operation_id, askedAt - Number(row.age_ms)),
    remainingMs: Number(row.remaining_ms),
    total: row.total,
    ...recordsAndErrors(tally, row.records ?? [], row.records ? 0 : Number(row.bytes ?? 0)),
    seq: row.seq,
    lease: row.lease,
    expired: row.expired,
  };
}
