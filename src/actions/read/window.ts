import type { Run } from './store/runs.ts';

/** What a run asks the provider for, in milliseconds since the epoch. */
export interface Window {
  since?: number;
  until: number;
  /** A record changed after this time will be found by the next run again; missing: no run follows on this one. */
  repeatedFrom?: number;
}

/** Longer than a run through all records takes. */
const longestMs = 90 * 24 * 3_600_000;

/**
 * A change may show at the provider only some time after the time that it carries. So a scheduled run looks back so far before
 * the end of the one before it, and leaves out what that one delivered. The first one looks back before its feed began: a provider
 * whose clock is behind stamps so what changes after that. One that ends before that, since our clock went back, looks back before
 * its own end. A backfill takes each record as it finds it: one that changes before its page is read would otherwise be missing
 * where no schedule follows. So do a run on demand whose end nobody gave, and one that compares associations.
 */
export function windowOf(
  { type, since, until, untilNow }: Pick<Run, 'type' | 'since' | 'until' | 'untilNow'>,
  lagMs: number,
): Window {
  if (type === 'backfill' || type === 'associations' || untilNow)
    return { ...after(since), until: until + longestMs };
  if (type === 'triggered') return { ...after(since), until };
  return { since: Math.min(since ?? until, until) - lagMs, until, repeatedFrom: until - lagMs };
}

const dateMs = 1_000;
/** A clock that is further away than this is wrong in a way that nothing follows from. */
const furthestMs = 24 * 3_600_000;

/**
 * Until when a run has read, once the provider told its time with the first page: where our clock is ahead of it, what
 * changes next carries times before the end of the run, and the next one must look for them.
 */
export function readUntil(
  { type, until }: Pick<Run, 'type' | 'until'>,
  answeredAt: number | undefined,
): number {
  if (type !== 'scheduled' || answeredAt === undefined) return until;
  const end = answeredAt + dateMs - 1;
  return end < until && until - end <= furthestMs ? end : until;
}

/**
 * From when a run reads, once the provider told its time with the first page: what changed since the feed began, by our clock,
 * carries times before that where ours is ahead.
 */
export function readSince(
  { since, firstAt }: Pick<Run, 'since' | 'firstAt'>,
  answeredAt: number | undefined,
): number | null {
  if (since === null || firstAt === null || answeredAt === undefined) return since;
  const aheadMs = firstAt - (answeredAt + dateMs - 1);
  return aheadMs > 0 && aheadMs <= furthestMs ? since - aheadMs : since;
}

/** What the database's clock told, and when that was by one that nobody sets. In milliseconds. */
export interface ClockSeen {
  now: number;
  at: number;
}

/** A first run looks back for longer than this anyhow. */
const leastMs = 10_000;

/**
 * Which feeds, of those by which nothing was read yet, may have begun while the database's clock was ahead, and by how much that may have
 * been. Once the clock is seen to be set back, all that began within a day: it may have been ahead for longer than by how much. At the
 * first look those that begin later than now. Undefined: none.
 */
export function begunAhead(
  seen: ClockSeen | undefined,
  { now, at }: ClockSeen,
): { laterThanMs: number; byMs: number } | undefined {
  if (!seen) return { laterThanMs: 0, byMs: furthestMs };
  const backMs = seen.now + (at - seen.at) - now;
  return backMs > leastMs ? { laterThanMs: furthestMs, byMs: furthestMs } : undefined;
}

function after(since: number | null): { since?: number } {
  return since === null ? {} : { since };
}
