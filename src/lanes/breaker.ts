import type { Heard } from './kind.ts';
import { remember } from '../kit/remember.ts';

/**
 * Lets those rest that only ever time out. `share` is what stands or falls together, such as the host of a provider; `lane`
 * one of the queues to it. Times are monotonic.
 */
export interface Breaker {
  /** How long nothing of the share should be tried, in milliseconds; 0: it may, by one call only if it `isProbing`. */
  restMs(share: string): number;
  /** One call is to find out whether the share answers again. */
  isProbing(share: string): boolean;
  /** The lane makes that call; until it is heard of, or given up, the others rest. */
  probe(share: string, lane: string): void;
  giveUp(share: string, lane: string): void;
  heard(share: string, lane: string, what: Heard): void;
  /** How many calls of the lane may be under way at once. */
  mostOf(lane: string): number;
}

/** A new lane begins with few calls at once and has one more with each answer, so that many that hang hold little. */
const slowStart = 2;
const mostAtAll = 1_024;
const toTrip = 5;
const restOf = { baseMs: 1_000, capMs: 60_000 };
/** While one finds out, the others look again after this long. */
const probeMs = 2_000;

interface Condition {
  /** Silences since the last answer. */
  silences: number;
  /** Rests since then; the next one is twice as long. */
  rests: number;
  restUntil: number;
  prober?: string;
}

export function createBreaker(now: () => number = () => performance.now()): Breaker {
  const silent = new Map<string, Condition>();
  const mosts = new Map<string, number>();

  function rest(condition: Condition): void {
    condition.restUntil = now() + Math.min(restOf.capMs, restOf.baseMs * 2 ** condition.rests);
    condition.rests += 1;
    delete condition.prober;
  }

  return {
    restMs(share) {
      const condition = silent.get(share);
      if (!condition || condition.rests === 0) return 0;
      return Math.max(0, condition.restUntil - now(), condition.prober === undefined ? 0 : probeMs);
    },
    isProbing: (share) => (silent.get(share)?.rests ?? 0) > 0,
    probe(share, lane) {
      const condition = silent.get(share);
      if (condition && condition.rests > 0) condition.prober = lane;
    },
    giveUp(share, lane) {
      const condition = silent.get(share);
      if (condition?.prober === lane) delete condition.prober;
    },
    heard(share, lane, what) {
      remember(mosts, lane, what === 'silence' ? 1 : Math.min((mosts.get(lane) ?? slowStart) + 1, mostAtAll));
      if (what === 'answer') {
        silent.delete(share);
        return;
      }
      const condition = silent.get(share) ?? { silences: 0, rests: 0, restUntil: -Infinity };
      remember(silent, share, condition);
      condition.silences += 1;
      // Calls that began before a rest end during it, and say nothing new.
      const isNews = condition.rests === 0 || condition.prober === lane;
      if (condition.silences >= toTrip && isNews) rest(condition);
    },
    mostOf: (lane) => mosts.get(lane) ?? slowStart,
  };
}
