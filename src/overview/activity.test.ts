import { describe, expect, it } from 'vitest';
import { activityOf } from './activity.ts';

describe('overview/activity', () => {
  const now = 1_768_470_059;
  const minute = 1_768_470_000;
  const row = (series: string, bucket: number, count: number, at = minute) => ({ at, series, bucket, count });

  it('puts each count at its time, the running one last', () => {
    const { times, writes, stepSeconds } = activityOf('hour', now, [
      row('write.success', 4, 3),
      row('write.failure', 8, 1),
      row('write.success', 4, 2, minute - 59 * 60),
      row('write.success', 4, 9, minute - 60 * 60),
    ]);
    expect([stepSeconds, times.length, times[0], times.at(-1)]).toEqual([60, 60, minute - 59 * 60, minute]);
    expect([writes.succeeded.at(-1), writes.failed.at(-1), writes.succeeded[0]]).toEqual([3, 1, 2]);
    expect(writes.succeeded.reduce((sum, one) => sum + one)).toBe(5);
    expect(writes.p50Ms[1]).toBeNull();
  });

  it('tells how long they took from all that ended, and keeps kinds apart', () => {
    const { writes, deliveries, reads } = activityOf('hour', now, [
      row('write.success', 40, 94),
      row('write.failure', 60, 6),
      row('delivery.delivered', 20, 1),
    ]);
    expect([writes.p50Ms.at(-1), writes.p95Ms.at(-1)]).toEqual([1_024, 32_768]);
    expect([deliveries.succeeded.at(-1), deliveries.p50Ms.at(-1)]).toEqual([1, 32]);
    expect(reads.succeeded.at(-1)).toBe(0);
  });

  it('counts what was done in part among what was done, and apart', () => {
    const { writes, failures } = activityOf('hour', now, [
      row('write.success', 8, 3),
      row('write.success.partlyDone', -1, 2),
    ]);
    expect([writes.succeeded.at(-1), writes.partlyDone.at(-1), writes.failed.at(-1)]).toEqual([3, 2, 0]);
    expect([writes.p50Ms.at(-1), failures]).toEqual([4, {}]);
  });

  it('counts a failure once, and by its category apart', () => {
    const { writes, failures } = activityOf('hour', now, [
      row('write.failure', 8, 3),
      row('write.failure.validation', -1, 2),
      row('write.failure.rateLimit', -1, 1),
    ]);
    expect([writes.failed.at(-1), failures]).toEqual([3, { validation: 2, rateLimit: 1 }]);
  });
});
