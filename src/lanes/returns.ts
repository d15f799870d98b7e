import { remember } from '../kit/remember.ts';

/** Says when a lane comes back that found no place: later each time, so that many of them cost little and hide no other. */
export interface Returns {
  /** In milliseconds, for a lane that found none again. */
  inMs(lane: string): number;
  /** It has found one. */
  found(lane: string): void;
}

const firstMs = 1_000;
const mostMs = 60_000;

export function createReturns(): Returns {
  const times = new Map<string, number>();
  return {
    inMs(lane) {
      const before = times.get(lane) ?? 0;
      remember(times, lane, before + 1);
      return Math.min(mostMs, firstMs * 2 ** before);
    },
    found: (lane) => void times.delete(lane),
  };
}
