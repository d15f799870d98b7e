import { countEnd, countedColumns, countedEnds, type Counted } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { erasedUntil } from '../../kit/db/erasing.ts';
import { statement } from '../../kit/db/statement.ts';
import { storable, storableJson } from '../../kit/storable.ts';
import { recordParts, woken } from '../../lanes/index.ts';
import { countParts } from '../../operations/index.ts';
import type { DeliveryEnd } from '../settle.ts';

/** How many attempts a delivery tells of. */
const mostEntries = 20;

/**
 * The content of messages that were delivered wherever they were to go: their own destination, and those that a replay named.
 * What a link leads to stays while the link is good.
 */
const emptied = `empty AS MATERIALIZED (
    SELECT e.ref FROM ended e
    WHERE e.empties AND e.status = 'delivered'
      AND NOT EXISTS (
        SELECT FROM delivery d
        WHERE d.project_id = e.project_id AND d.message_id = e.ref AND d.destination_id <> e.lane_id AND d.status <> 'delivered')
      AND (e.own_id = e.lane_id OR EXISTS (
        SELECT FROM delivery d
        WHERE d.project_id = e.project_id AND d.message_id = e.ref AND d.destination_id = e.own_id))),
  emptied AS (
    UPDATE message m SET body = '', keys = '[]'
    WHERE m.project_id = ANY ($1::uuid[]) AND m.id = ANY (ARRAY (SELECT ref FROM empty)))`;

/** It had ended, and is not sent again after all. */
const isAsBefore = `excluded.status = 'canceled' AND d.ended IS NOT NULL`;

/**
 * What the ends of attempts change, for a group in one statement: the deliveries, the counts of their operations when they
 * end, since when a destination fails, where that changes, and what ran out of attempts there. A delivery that ends another way
 * than before is counted there instead. What a replay sends elsewhere is counted by the replay alone; what
 * was not sent again of one that was canceled leaves its count. Of a message that was erased meanwhile, or is being erased, nothing is kept.
 */
const recording = (rest: string): string => `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::text[],
      $8::smallint[], $9::text[], $10::text[], $11::boolean[], $12::bigint[]) WITH ORDINALITY
      AS i(project_id, seq, lease, done, wait_ms, spent, status, http_status, error, entry, empties, mark, n)),
  ${recordParts},
  wakes AS (${woken('SELECT * FROM returned WHERE home_id IS NOT NULL')}),
  ended AS MATERIALIZED (
    SELECT k.*, m.destination_id AS own_id, CASE WHEN m.destination_id = k.lane_id THEN m.operation_id END AS operation_id, m.records, d.ended AS before, d.replay_id, CASE WHEN k.status IN ('delivered', 'failed') THEN k.status END AS after
    FROM (SELECT * FROM kept WHERE status IS NOT NULL) k
    LEFT JOIN LATERAL (
      SELECT operation_id, records, destination_id FROM message m WHERE m.project_id = k.project_id AND m.id = k.ref
        AND coalesce(m.id >= ${erasedUntil('m.project_id', 'm.group_ref')}, true) LIMIT 1) m ON true
    LEFT JOIN LATERAL (
      SELECT d.ended, d.replay_id FROM delivery d
      WHERE d.project_id = k.project_id AND d.message_id = k.ref AND d.destination_id = k.lane_id LIMIT 1) d ON true),
  deliveries AS (
    INSERT INTO delivery AS d (project_id, message_id, destination_id, status, ended, attempts, http_status, error, log,
      first_at, last_at, next_at)
    SELECT project_id, ref, lane_id, status, after, spent::int, http_status, error,
      CASE WHEN entry IS NULL THEN '[]' ELSE jsonb_build_array(entry::jsonb) END, now, now, due_at
    FROM clock, ended WHERE own_id IS NOT NULL
    ON CONFLICT (project_id, message_id, destination_id) DO UPDATE SET
      status = CASE WHEN ${isAsBefore} THEN d.ended ELSE excluded.status END,
      ended = coalesce(excluded.ended, d.ended), attempts = d.attempts + excluded.attempts,
      http_status = CASE WHEN ${isAsBefore} THEN d.http_status ELSE excluded.http_status END,
      error = CASE WHEN ${isAsBefore} THEN d.error ELSE excluded.error END,
      log = CASE WHEN jsonb_array_length(d.log) >= ${mostEntries} THEN d.log - 0 ELSE d.log END || excluded.log,
      last_at = excluded.last_at, next_at = excluded.next_at,
      replay_id = CASE WHEN excluded.status = 'pending' THEN d.replay_id END),
  replays AS (
    UPDATE replay r SET delivered = r.delivered + s.delivered, failed = r.failed + s.failed + CASE WHEN r.status = 'canceled' THEN 0 ELSE s.canceled END,
      queued = r.queued - CASE WHEN r.status = 'canceled' THEN s.canceled ELSE 0 END, updated_at = now
    FROM clock, (
      SELECT project_id, replay_id, count(*) FILTER (WHERE status = 'delivered') AS delivered,
        count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'canceled') AS canceled
      FROM ended WHERE replay_id IS NOT NULL AND status <> 'pending' GROUP BY project_id, replay_id) s
    WHERE r.project_id = s.project_id AND r.id = s.replay_id),
  changes AS MATERIALIZED (
    SELECT project_id, operation_id,
      sum(records * ((after = 'delivered')::int - coalesce((before = 'delivered')::int, 0)))::int AS succeeded,
      sum(records * ((after = 'failed')::int - coalesce((before = 'failed')::int, 0)))::int AS failed
    FROM ended WHERE operation_id IS NOT NULL AND after IS NOT NULL AND after IS DISTINCT FROM before
    GROUP BY project_id, operation_id),
  ${countParts('SELECT * FROM changes')},
  standing AS (
    SELECT project_id, lane_id, bool_or(status = 'delivered') AS works,
      count(*) FILTER (WHERE status = 'failed' AND own_id IS NOT NULL) AS dead
    FROM ended WHERE status <> 'canceled' GROUP BY project_id, lane_id),
  destinations AS (
    UPDATE destination d SET failing_since = CASE WHEN NOT s.works THEN coalesce(d.failing_since, now) END,
      dead_letters = d.dead_letters + s.dead, dead_since = CASE WHEN s.dead > 0 THEN coalesce(d.dead_since, now) ELSE d.dead_since END
    FROM clock, standing s
    WHERE d.project_id = s.project_id AND d.id = s.lane_id AND (s.dead > 0 OR s.works = (d.failing_since IS NOT NULL))),
  ${countedEnds(13)}${rest}
  SELECT n FROM kept`;

const recordGroup = statement('deliveries_record', recording(''));
/** Of a project that keeps no content of what is delivered. */
const recordEmptying = statement('deliveries_record_emptying', recording(`,\n  ${emptied}`));

/** Answers for each, in order, whether its fence held. */
export async function recordDeliveries(db: Queryable, ends: readonly DeliveryEnd[]): Promise<boolean[]> {
  const column = <T>(read: (end: DeliveryEnd) => T): T[] => ends.map(read);
  const kept = await db.rows<{ n: string }>(
    ends.some(({ empties }) => empties) ? recordEmptying : recordGroup,
    [
      column((end) => end.projectId),
      column((end) => end.seq),
      column((end) => end.lease),
      column((end) => end.done),
      column((end) => end.waitMs),
      column((end) => end.spent),
      column(({ outcome }) => outcome?.status ?? null),
      column(({ outcome }) => outcome?.httpStatus ?? null),
      column(({ outcome }) => (outcome?.error === undefined ? null : storable(outcome.error))),
      column(({ outcome }) => (outcome?.entry === undefined ? null : storableJson(outcome.entry))),
      column(({ empties }) => empties === true),
      column((end) => end.mark),
      ...countedColumns(ends.map(countedOf)),
    ],
  );
  const held = new Set(kept.map((row) => Number(row.n)));
  return ends.map((_, at) => held.has(at + 1));
}

function countedOf({ done, outcome, messageId }: DeliveryEnd): Counted[] {
  return done && outcome ? countEnd('delivery', outcome.status, messageId) : [];
}
