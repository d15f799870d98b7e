import type { Run } from './store/runs.ts';

/** What a run asks the provider for, in milliseconds since the epoch. */
export interface Window {
  since?: number;
  until: number;
  /** A record changed after this time will be found by the next run again; missing: no run follows on this one. */
  repeatedFrom?: number;
}

/**
 * A change may show at the provider only some time after the time that it carries. So a scheduled run looks back so far before
 * the end of the one before it, and leaves out what that one delivered. It does not look back before its feed began, unless a
 * backfill reads what was before.
 */
export function windowOf(
  { type, since, until, feedSince }: Pick<Run, 'type' | 'since' | 'until' | 'feedSince'>,
  lagMs: number,
): Window {
  if (type !== 'scheduled') return since === null ? { until } : { since, until };
  const from = (since ?? until) - lagMs;
  return { since: feedSince === null ? from : Math.max(from, feedSince), until, repeatedFrom: until - lagMs };
}
