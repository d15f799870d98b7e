import type { Queryable } from '../../../kit/db/database.ts';
import { askInTime, clockUntil, orLate, type TimedDatabase } from '../../../kit/db/in-time.ts';
import { statement } from '../../../kit/db/statement.ts';
import { crashPoint } from '../../../kit/crash-point.ts';
import { storable } from '../../../kit/storable.ts';
import { firstProject, gathering, woken, type Gathers, type LaneKey } from '../../../lanes/index.ts';
import { claimKeys, keyColumns, turnKey } from '../../../operations/index.ts';
import { mostRecords } from '../schema.ts';
import type { Entry, Place, PlaceRequest, Range } from './places.ts';

const takePlaces = statement(
  'ab_take',
  `SELECT n, batch_id AS "batchId", first_slot AS "firstSlot", places FROM svc_ab_take($1::json, ${mostRecords})`,
);

/**
 * Records join their batch only while it is there: the key-share lock makes its seal wait for them, and them for its seal.
 * The one in the first place sets when the batch leaves; whoever finds all places handed out wakes the lane, since it may
 * be the last to come. A record whose idempotency key stands already is not inserted, nor is a change of a record of which
 * one stands open under another batch key: that was closed before, and a crash may have taken that back. A place that is
 * taken fails the group: either its commit had lost its answer, or a crash had taken back that the place was handed out.
 * A statement that begins too late inserts nothing.
 */
const insertRecords = statement(
  'ab_insert',
  `WITH ${clockUntil(15)},
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::json[], $5::text[], $6::uuid[], $7::text[]) WITH ORDINALITY
      AS i(project_id, batch_id, slot, payload, reference, entry, order_key, n)
    WHERE (SELECT in_time FROM clock)),
  batches AS MATERIALIZED (SELECT DISTINCT project_id, batch_id FROM input),
  open AS MATERIALIZED (
    SELECT b.project_id, b.id, b.lane_id, b.key, b.handed_out FROM batches i
    JOIN ab_batch b ON b.project_id = i.project_id AND b.id = i.batch_id
    ORDER BY b.project_id, b.id FOR KEY SHARE OF b),
  found AS MATERIALIZED (
    SELECT i.*, o.lane_id, o.handed_out FROM input i JOIN open o ON o.project_id = i.project_id AND o.id = i.batch_id
    WHERE i.order_key IS NULL OR NOT EXISTS (
      SELECT FROM ab_turn t JOIN ab_batch b ON b.project_id = t.project_id AND b.id = t.batch_id
      WHERE t.project_id = i.project_id AND t.order_key = i.order_key AND b.key <> o.key)),
  ${claimKeys(8, 'found')},
  joined AS (
    INSERT INTO record (project_id, operation_id, slot, payload, reference, entry, order_key)
    SELECT f.project_id, f.batch_id, f.slot, f.payload, f.reference, f.entry, f.order_key
    FROM found f WHERE f.n NOT IN (SELECT n FROM replayed)
    RETURNING project_id, operation_id, slot),
  turns AS (
    INSERT INTO ab_turn (project_id, order_key, batch_id)
    SELECT DISTINCT f.project_id, f.order_key, f.batch_id FROM found f
    JOIN joined j ON j.project_id = f.project_id AND j.operation_id = f.batch_id AND j.slot = f.slot
    WHERE f.order_key IS NOT NULL ORDER BY f.project_id, f.order_key, f.batch_id
    ON CONFLICT DO NOTHING),
  begun AS (
    UPDATE ab_batch b SET close_at = CASE WHEN b.handed_out THEN b.close_at ELSE b.latest_at END
    FROM (
      SELECT f.project_id, f.id FROM joined j JOIN ab_batch f ON f.project_id = j.project_id AND f.id = j.operation_id
      WHERE j.slot = 0 ORDER BY f.project_id, f.id FOR NO KEY UPDATE OF f) f
    WHERE b.project_id = f.project_id AND b.id = f.id
    RETURNING b.project_id, b.lane_id, b.close_at),
  wakes AS (
    ${woken(`SELECT project_id, lane_id, now AS due_at FROM open, clock WHERE handed_out
      UNION ALL SELECT project_id, lane_id, close_at FROM begun`)})
  SELECT f.n::int AS n, f.handed_out AS full, NULL::float8 AS "lateAt" FROM found f
  JOIN joined j ON j.project_id = f.project_id AND j.operation_id = f.batch_id AND j.slot = f.slot
  ${orLate(2)}`,
);

const findKeys = statement(
  'ab_find_keys',
  `SELECT i.n::int AS n FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS i(project_id, principal, key, n)
  CROSS JOIN LATERAL (
    SELECT FROM idempotency d WHERE d.project_id = i.project_id AND d.principal = i.principal AND d.key = i.key) d`,
);

const findEntries = statement(
  'ab_find',
  `SELECT
    coalesce(i.entry = (
      SELECT r.entry FROM record r WHERE r.project_id = i.project_id AND r.operation_id = i.batch_id AND r.slot = i.slot),
      false) AS own,
    EXISTS (SELECT FROM ab_batch b WHERE b.project_id = i.project_id AND b.id = i.batch_id) AS gathers
  FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[]) WITH ORDINALITY AS i(project_id, batch_id, slot, entry, n)
  ORDER BY i.n`,
);

const closeOtherBatches = statement(
  'ab_close_others',
  'SELECT lane_id AS "laneId" FROM svc_ab_close_others($1::uuid[], $2::text[], $3::uuid[])',
);

/** Most looks find nothing to seal: these lock nothing, and so write nothing. */
const sealBatches = statement(
  'ab_seal',
  `SELECT s.lane_id AS "laneId" FROM (
    SELECT FROM unnest($1::uuid[], $2::uuid[]) AS i(project_id, id) CROSS JOIN LATERAL (
      SELECT FROM ab_batch b
      WHERE b.project_id = i.project_id AND b.lane_id = i.id AND b.close_at <= svc_now() + interval '2 seconds' LIMIT 1) b
    LIMIT 1) due
  CROSS JOIN LATERAL svc_ab_seal($1::uuid[], $2::uuid[], $3::uuid[], ${mostRecords}) s`,
);

/** Whatever their time. In the order of their keys, so that an earlier one of a key leaves first. The planner's ballast stays. */
const nextOpen = `SELECT project_id, id FROM ab_batch WHERE project_id <> '${firstProject}' ORDER BY seq LIMIT 200`;

const sealAny = statement(
  'ab_seal_any',
  `SELECT lane_id AS "laneId" FROM svc_ab_leave_or_end(svc_now(),
    ARRAY (SELECT project_id FROM (${nextOpen}) b), ARRAY (SELECT id FROM (${nextOpen}) b))`,
);

const findAny = statement('ab_find_any', `SELECT id FROM (${nextOpen}) b LIMIT 1`);

/** For batches whose lane does not know of them, as after an older node gave it back. */
const wakeOverdue = statement(
  'ab_wake_overdue',
  `INSERT INTO wake (project_id, lane_id, due_at)
  SELECT DISTINCT project_id, lane_id, svc_now() FROM (
    SELECT project_id, lane_id FROM ab_batch WHERE close_at < svc_now() - interval '1 minute'
    ORDER BY close_at LIMIT 1000) overdue`,
);

/** Heads of keys that nobody uses any more: forwarded headers may make a key of every request. */
const removeHeads = statement(
  'ab_remove_heads',
  `DELETE FROM ab_head WHERE ctid = ANY (ARRAY (
    SELECT h.ctid FROM ab_head h
    WHERE h.close_at < svc_now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM ab_batch b WHERE b.project_id = h.project_id AND b.id = h.batch_id)
    LIMIT 10000 FOR UPDATE OF h SKIP LOCKED))`,
);

/**
 * Closes the open batches that hold one of the records under another batch key: its changes leave in the order of their
 * acceptance. Answers with the lanes that have new work.
 */
export async function closeOthers(db: Queryable, entries: readonly Entry[]): Promise<string[]> {
  const ordered = entries.flatMap(({ projectId, batchKey, orderKey }) =>
    orderKey === null ? [] : [{ projectId, batchKey, key: turnKey(orderKey) }],
  );
  if (ordered.length === 0) return [];
  const rows = await db.rows<{ laneId: string }>(closeOtherBatches, [
    ordered.map(({ projectId }) => projectId),
    ordered.map(({ key }) => key),
    ordered.map(({ batchKey }) => batchKey),
  ]);
  return rows.map(({ laneId }) => laneId);
}

/** Hands out places, in the order of the requests; they stand in the order of project and key. */
export function take(db: Queryable, requests: readonly PlaceRequest[]): Promise<Range[]> {
  const asked = requests.map(({ batchKey, first, entries, missed, spareIds }) => ({
    project_id: first.projectId,
    key: batchKey,
    missed,
    lane_id: first.laneId,
    integration_id: first.integrationId,
    installation_id: first.installationId,
    config_id: first.configId,
    action_type: first.actionType,
    resource: first.resource,
    request: first.request,
    prio: first.prio ?? 1,
    spare_ids: spareIds,
    delays: entries.map((entry) => entry.maxDelaySeconds),
    deadlines: entries.map((entry) => entry.deadlineSeconds),
  }));
  return db.rows(takePlaces, [JSON.stringify(asked)]);
}

/** Inserts the records that still find their batch; answers for each whether it is in, and whether its batch may be full. */
export async function insert(
  db: TimedDatabase,
  places: readonly Place[],
): Promise<({ full: boolean } | undefined)[]> {
  const values = [
    places.map(({ entry }) => entry.projectId),
    places.map(({ batchId }) => batchId),
    places.map(({ slot }) => slot),
    places.map(({ entry }) => entry.payload),
    places.map(({ entry }) =>
      entry.record.reference === undefined ? null : storable(entry.record.reference),
    ),
    places.map(({ entry }) => entry.id),
    places.map(({ entry }) => (entry.orderKey === null ? null : turnKey(entry.orderKey))),
    ...keyColumns(
      places.flatMap(({ entry, batchId }, at) => {
        const { projectId, key } = entry;
        return key ? [{ projectId, operationId: batchId, key, n: at + 1 }] : [];
      }),
    ),
  ];
  const rows = await askInTime<{ n: number; full: boolean }>(db, (latest) =>
    db.rows(insertRecords, [...values, latest]),
  );
  const found = new Map(rows.map((row) => [row.n, row]));
  return places.map((_, at) => found.get(at + 1));
}

/** Those of the entries whose idempotency key stands already: a place for them would stay empty. */
export async function findStanding(db: Queryable, entries: readonly Entry[]): Promise<Set<string>> {
  const keyed = entries.flatMap(({ id, projectId, key }) => (key ? [{ id, projectId, key }] : []));
  if (keyed.length === 0) return new Set();
  const rows = await db.rows<{ n: number }>(findKeys, [
    keyed.map((one) => one.projectId),
    keyed.map((one) => one.key.principal),
    keyed.map((one) => one.key.key),
  ]);
  return new Set(rows.flatMap(({ n }) => keyed[n - 1]?.id ?? []));
}

/** Whether each of the places holds its own record, and whether its batch still gathers: one that does not takes no more. */
export function findOwn(
  db: Queryable,
  places: readonly Place[],
): Promise<{ own: boolean; gathers: boolean }[]> {
  return db.rows(findEntries, [
    places.map(({ entry }) => entry.projectId),
    places.map(({ batchId }) => batchId),
    places.map(({ slot }) => slot),
    places.map(({ entry }) => entry.id),
  ]);
}

/** Turns what is due or full in lanes of the caller into work; answers with the lanes, once for each batch. */
export async function seal(db: Queryable, lanes: readonly LaneKey[]): Promise<string[]> {
  const rows = await db.rows<{ laneId: string }>(sealBatches, [
    lanes.map((lane) => lane.projectId),
    lanes.map((lane) => lane.id),
    lanes.map((lane) => lane.lease),
  ]);
  return rows.map((row) => row.laneId);
}

/** Turns some of the open batches into work, for when no node works; answers whether there are more. */
export async function sealSome(db: Queryable): Promise<boolean> {
  await db.rows(sealAny);
  return (await db.rows(findAny)).length > 0;
}

/** Open batches gather beside the lane of their connection, and are work once they are sealed. */
export const openBatches: Gathers = {
  statements: gathering('_with_batches', {
    exists: 'EXISTS (SELECT FROM ab_batch b WHERE b.project_id = l.project_id AND b.lane_id = l.id)',
    dueAt:
      '(SELECT b.close_at FROM ab_batch b WHERE b.project_id = h.project_id AND b.lane_id = h.id ORDER BY b.close_at LIMIT 1)',
  }),
  tables: ['ab_head', 'ab_batch', 'ab_turn'],
  async prepare(db, lanes) {
    const sealed = await seal(db, lanes);
    if (sealed.length > 0) crashPoint('after-seal');
    return sealed;
  },
};

/** Wakes the lanes of overdue batches; deletes heads that nobody uses. */
export async function tidy(db: Queryable): Promise<void> {
  await db.rows(wakeOverdue);
  await db.rows(removeHeads);
}
