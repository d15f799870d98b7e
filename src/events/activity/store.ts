import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Counted } from './series.ts';

/**
 * A part of a statement that ends work: what ended is counted in the same commit, and nothing whose fence was lost. The statement
 * has CTEs `clock(now)` and `kept(n, project_id)`; `first` is the number of the first of the parameters {@link countedColumns}.
 */
export const countedEnds = (first: number): string => `counted_ends AS (
    INSERT INTO activity_delta (project_id, at, series, bucket, count)
    SELECT k.project_id, (SELECT now FROM clock), x.series, x.bucket, count(*)
    FROM unnest($${first}::int[], $${first + 1}::text[], $${first + 2}::smallint[]) AS x(n, series, bucket)
    JOIN kept k ON k.n = x.n GROUP BY k.project_id, x.series, x.bucket)`;

/** The parameters of {@link countedEnds}, for the items of the statement in their order. */
export function countedColumns(items: readonly (readonly Counted[])[]): unknown[] {
  const all = items.flatMap((counted, at) => counted.map((one) => ({ n: at + 1, ...one })));
  return [all.map(({ n }) => n), all.map(({ series }) => series), all.map(({ bucket }) => bucket)];
}

/** In seconds. */
export const grains = { minute: 60, tenMinutes: 600, hour: 3_600, sixHours: 21_600 } as const;
export type Grain = keyof typeof grains;

const seconds = Object.values(grains).join(', ');

// One statement moves what it deletes. The order keeps two nodes from waiting for one another.
const fold = statement(
  'activity_fold',
  `WITH taken AS (
    DELETE FROM activity_delta WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM activity_delta LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING *),
  added AS (
    INSERT INTO activity AS a (project_id, grain, at, series, bucket, count)
    SELECT project_id, g, to_timestamp(floor(extract(epoch FROM at) / g) * g), series, bucket, sum(count)
    FROM taken, unnest(ARRAY[${seconds}]) g GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (project_id, grain, at, series, bucket) DO UPDATE SET count = a.count + excluded.count)
  SELECT count(*)::int AS moved FROM taken`,
);

/** Moves counts to where they are read; answers how many rows it found. */
export async function foldActivity(db: Queryable, most: number): Promise<number> {
  const [row] = await db.rows<{ moved: number }>(fold, [most]);
  return row?.moved ?? 0;
}

const forget = statement(
  'activity_forget',
  `DELETE FROM activity WHERE grain = $1 AND at < svc_now() - $2 * interval '1 second'`,
);

export async function forgetActivity(db: Queryable, grain: Grain, keptSeconds: number): Promise<void> {
  await db.rows(forget, [grains[grain], keptSeconds]);
}

// From the beginning of its first step.
const read = statement(
  'activity_read',
  `SELECT extract(epoch FROM at)::float8 AS at, series, bucket, count::float8 FROM activity
   WHERE project_id = $1 AND grain = $2 AND at > to_timestamp(floor(extract(epoch FROM svc_now()) / $2) * $2) - $3 * $2 * interval '1 second'
   ORDER BY at`,
);

const now = statement('activity_now', 'SELECT extract(epoch FROM svc_now())::float8 AS now');

export interface ActivityRow {
  /** Seconds since the epoch. */
  at: number;
  series: string;
  bucket: number;
  count: number;
}

/** What ended in the last `steps` of the grain, with the running one; and what time it is. */
export async function readActivity(
  db: Queryable,
  projectId: string,
  grain: Grain,
  steps: number,
): Promise<{ now: number; rows: ActivityRow[] }> {
  const [[clock], rows] = await Promise.all([
    db.rows<{ now: number }>(now),
    db.rows<ActivityRow>(read, [projectId, grains[grain], steps]),
  ]);
  return { now: clock?.now ?? 0, rows };
}
