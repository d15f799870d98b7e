import { grains, noDuration, quantile, type ActivityRow, type Grain } from '../events/index.ts';
import type { Activity, EndedSeries, ranges } from './schema.ts';

type Range = (typeof ranges)[number];

/** What is read for a range: so many steps of a grain, the last one under way. */
export const stepsOf: Record<Range, { grain: Grain; steps: number }> = {
  hour: { grain: 'minute', steps: 60 },
  day: { grain: 'tenMinutes', steps: 144 },
  week: { grain: 'hour', steps: 168 },
  month: { grain: 'sixHours', steps: 120 },
};

const good = new Set(['success', 'delivered']);

/** The series of charts, from what was counted. Pure; `now` in seconds since the epoch. */
export function activityOf(range: Range, now: number, rows: readonly ActivityRow[]): Activity {
  const { grain, steps } = stepsOf[range];
  const step = grains[grain];
  const last = Math.floor(now / step) * step;
  const times = Array.from({ length: steps }, (_, at) => last - (steps - 1 - at) * step);
  const failures = new Map<string, number>();
  for (const { series, bucket, count } of rows) {
    const [, outcome, category] = series.split('.');
    if (bucket === noDuration && category !== undefined && outcome === 'failure')
      failures.set(category, (failures.get(category) ?? 0) + count);
  }
  const seriesOf = (kind: string): EndedSeries =>
    endedOf(
      times,
      rows.filter(({ series }) => series.startsWith(`${kind}.`)),
    );
  return {
    stepSeconds: step,
    times,
    writes: seriesOf('write'),
    reads: seriesOf('read'),
    deliveries: seriesOf('delivery'),
    failures: Object.fromEntries([...failures].toSorted(([, one], [, other]) => other - one)),
  };
}

function endedOf(times: readonly number[], rows: readonly ActivityRow[]): EndedSeries {
  const byTime = Map.groupBy(rows, ({ at }) => at);
  const each = times.map((time) => stepOf(byTime.get(time) ?? []));
  return {
    succeeded: each.map(({ succeeded }) => succeeded),
    partlyDone: each.map(({ partlyDone }) => partlyDone),
    failed: each.map(({ failed }) => failed),
    p50Ms: each.map(({ buckets }) => quantile(buckets, 0.5) ?? null),
    p95Ms: each.map(({ buckets }) => quantile(buckets, 0.95) ?? null),
  };
}

function stepOf(rows: readonly ActivityRow[]): {
  succeeded: number;
  partlyDone: number;
  failed: number;
  buckets: Map<number, number>;
} {
  const buckets = new Map<number, number>();
  let [succeeded, partlyDone, failed] = [0, 0, 0];
  for (const { series, bucket, count } of rows) {
    const [, outcome = '', reason] = series.split('.');
    if (reason === 'partlyDone') partlyDone += count;
    if (bucket === noDuration) continue;
    if (good.has(outcome)) succeeded += count;
    else failed += count;
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }
  return { succeeded, partlyDone, failed, buckets };
}
