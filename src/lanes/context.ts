import type { WorkContext } from './kind.ts';

/** Nothing is sent in the last part of a lease: from the question to the socket some time passes. */
const marginOfLease = 0.05;

/** What a kind may know of the lease under which it sends; it follows the lane as the lease is renewed. */
export function contextOf(lane: { leaseEndsAt: number }, signal: AbortSignal, leaseMs: number): WorkContext {
  return {
    get leaseEndsAt() {
      return lane.leaseEndsAt;
    },
    mayStillSend: () => !signal.aborted && performance.now() < lane.leaseEndsAt - leaseMs * marginOfLease,
    signal,
  };
}
