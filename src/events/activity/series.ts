import { timeOf } from '../../kit/ids.ts';

/** What is counted of something that ended: a series, and how long it took. */
export interface Counted {
  series: string;
  /** See {@link bucketOf}; {@link noDuration} where it is counted only. */
  bucket: number;
}

export const noDuration = -1;
/** Four buckets double the time: a quantile is told to within a fifth. The last one holds what took longer than three days. */
const perDoubling = 4;
const lastBucket = 112;

export function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  return Math.min(lastBucket, Math.ceil(Math.log2(ms) * perDoubling));
}

/** The longest time of a bucket, in milliseconds. */
export function msOf(bucket: number): number {
  return Math.round(2 ** (bucket / perDoubling));
}

/** Work with an id of ours that has ended now: under its outcome with the time since it was made, and under the reason of what did not go well. */
export function countEnd(kind: string, outcome: string, id: string, reason?: string): Counted[] {
  const counted = [{ series: `${kind}.${outcome}`, bucket: bucketOf(Date.now() - timeOf(id)) }];
  if (reason !== undefined) counted.push({ series: `${kind}.${outcome}.${reason}`, bucket: noDuration });
  return counted;
}

/** The time within which so large a share ended; undefined for none. */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number | undefined {
  const buckets = [...counts].toSorted(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= share * total) return msOf(bucket);
  }
  return undefined;
}
