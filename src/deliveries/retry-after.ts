import { retryAfterMs } from '../providers/index.ts';

const mostMs = 24 * 3_600_000;

/** How long the header asks to wait, believed for a day at most; undefined when it says nothing of sense. */
export function waitAskedFor(header: string | undefined, now: number): number | undefined {
  const wait = retryAfterMs(header, now);
  return wait === undefined ? undefined : Math.min(wait, mostMs);
}
