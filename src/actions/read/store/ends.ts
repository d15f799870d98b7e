import { countedColumns, countedEnds } from '../../../events/index.ts';
import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { storable, storableJson } from '../../../kit/storable.ts';
import { recordParts, type End } from '../../../lanes/index.ts';
import { countedOf, endOperations, logLines, markOperations, type Ended } from '../../../operations/index.ts';
import type { RunType } from './runs.ts';
import { timestampOf } from './times.ts';

/** A line of the log of a run. */
export interface RunLog {
  id: string;
  severity: 'info' | 'warning' | 'error';
  msg: string;
  details?: Record<string, string>;
}

/** The end of an attempt at a run: of a part of it, or of all. */
export interface RunEnd extends End, Ended {
  projectId: string;
  done: boolean;
  spent: boolean;
  type: RunType;
  result: string | null;
  /** The attempt failed, and no page came of it. */
  failed: boolean;
  /** It waits for somebody and asks nothing meanwhile: for how long it had failed before does not count. */
  rests: boolean;
  /** Milliseconds since the epoch: everything until then was read. Missing unless a run of a schedule ended whole. */
  watermark?: number;
  /** After so many scheduled runs that failed one after the other, the feed is paused. */
  pauseAfter: number;
  /** It failed for credentials: it does not count towards a pause. */
  excused: boolean;
  /** What it waits for is told of. */
  waits: boolean;
  range: { since: number | null; until: number };
  /** What the log of the run will have been told. */
  told: readonly string[];
  logs: readonly RunLog[];
}

/**
 * Records ends; its operation tells from then on how far a run is. A feed is freed by the end of its scheduled run, and paused when too many failed one after the other; what the
 * run before it delivered is forgotten once this one ended whole. A node of the release before leaves `excused` where it sets `failures` to 0.
 */
const recordEnds = statement(
  'read_record',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::text[], $8::text[],
      $9::json[], $10::boolean[], $11::float8[], $12::int[], $13::json[], $14::boolean[], $15::bigint[], $16::boolean[]) WITH ORDINALITY
      AS i(project_id, seq, lease, done, wait_ms, spent, status, result, errors, failed, watermark_ms, pause_after, told, rests, mark, excused, n)),
  ${recordParts},
  stands AS MATERIALIZED (
    SELECT k.n, r.emitted, jsonb_strip_nulls(
      jsonb_build_object('pages', r.page, 'processed', r.processed, 'estimated', r.estimated)) AS details
    FROM kept k JOIN read_run r ON r.project_id = k.project_id AND r.id = k.ref),
  ended AS (
    DELETE FROM read_run r USING kept k WHERE k.done AND r.project_id = k.project_id AND r.id = k.ref
    RETURNING r.*, k.n, k.status, k.watermark_ms, k.excused, NOT k.excused AND k.status <> 'success' AS counts, k.pause_after),
  waiting AS (
    UPDATE read_run r SET failures = r.failures + k.failed::int,
      failing_since = CASE WHEN k.failed THEN coalesce(r.failing_since, now) WHEN NOT k.rests THEN r.failing_since END,
      told = ARRAY (SELECT json_array_elements_text(k.told))
    FROM clock, kept k WHERE NOT k.done AND r.project_id = k.project_id AND r.id = k.ref),
  feeds AS (
    UPDATE read_feed f SET run_id = NULL,
      watermark = CASE WHEN e.status = 'success' THEN ${timestampOf('e.watermark_ms')} ELSE f.watermark END,
      failures = CASE WHEN e.status = 'success' THEN 0 ELSE f.failures + 1 END,
      excused = CASE WHEN e.status = 'success' THEN 0 ELSE least(f.excused, f.failures) + e.excused::int END,
      paused = CASE WHEN e.counts AND f.failures - least(f.excused, f.failures) + 1 >= e.pause_after THEN coalesce(f.paused, 'failures') ELSE f.paused END,
      paused_at = CASE WHEN e.counts AND f.failures - least(f.excused, f.failures) + 1 >= e.pause_after THEN coalesce(f.paused_at, now) ELSE f.paused_at END
    FROM clock, ended e
    WHERE e.type IN ('scheduled', 'associations') AND f.project_id = e.project_id
      AND f.installation_id = e.installation_id AND f.object = e.object AND f.run_id = e.id
    RETURNING e.n, f.paused = 'failures' AND f.paused_at = now AS paused),
  forgotten AS (
    DELETE FROM read_seen s USING ended e
    WHERE e.type = 'scheduled' AND e.status = 'success' AND s.project_id = e.project_id
      AND s.installation_id = e.installation_id AND s.object = e.object AND s.run_id <> e.id),
  ${endOperations(
    'read',
    `SELECT k.project_id, k.ref AS id, k.status, k.result, k.errors, k.attempt, k.spent, k.due_at, s.emitted AS total, s.details
    FROM kept k LEFT JOIN stands s ON s.n = k.n`,
  )},
  ${markOperations('SELECT project_id, ref AS id, status, errors FROM kept')},
  ${logLines(
    `SELECT k.project_id, k.ref AS operation_id, x.id, x.severity, x.message
    FROM unnest($17::int[], $18::uuid[], $19::text[], $20::json[]) AS x(n, id, severity, message) JOIN kept k ON k.n = x.n`,
  )},
  ${countedEnds(21)}
  SELECT k.n::int AS n, coalesce(f.paused, false) AS paused FROM kept k LEFT JOIN feeds f ON f.n = k.n`,
);

/** For each end, in order: undefined when the fence was lost; `paused`: its feed was paused by it. */
export async function record(
  db: Queryable,
  ends: readonly RunEnd[],
): Promise<({ paused: boolean } | undefined)[]> {
  const column = <T>(read: (end: RunEnd) => T): T[] => ends.map(read);
  const logs = ends.flatMap((end, at) => end.logs.map((log) => ({ ...log, n: at + 1, end })));
  const rows = await db.rows<{ n: number; paused: boolean }>(recordEnds, [
    column((one) => one.projectId),
    column((one) => one.seq),
    column((one) => one.lease),
    column((one) => one.done),
    column((one) => one.waitMs),
    column((one) => one.spent),
    column((one) => one.status),
    column((one) => (one.result === null ? null : storable(one.result))),
    column((one) => (one.errors.length > 0 ? storableJson(one.errors) : null)),
    column((one) => one.failed),
    column((one) => one.watermark ?? null),
    column((one) => one.pauseAfter),
    column((one) => JSON.stringify(one.told)),
    column((one) => one.rests),
    column((one) => one.mark),
    column((one) => one.excused),
    logs.map(({ n }) => n),
    logs.map(({ id }) => id),
    logs.map(({ severity }) => severity),
    logs.map(({ msg, details = {}, end }) => storableJson({ msg, operation_id: end.operationId, details })),
    // The work row of a run that had ended already has no object.
    ...countedColumns(ends.map((end) => (end.resource === '' ? [] : countedOf(end)))),
  ]);
  const byPlace = new Map(rows.map(({ n, paused }) => [n, { paused }]));
  return ends.map((_, at) => byPlace.get(at + 1));
}
