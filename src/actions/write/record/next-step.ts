import { backoffMs } from '../../../kit/retry.ts';
import type { RecordOutcome } from '../../../providers/index.ts';

export interface RetryPolicy {
  baseMs: number;
  capMs: number;
  /** In [0, 1); tests make it constant. */
  random: () => number;
}

export const defaultRetryPolicy: RetryPolicy = { baseMs: 1_000, capMs: 15 * 60_000, random: Math.random };

/** What follows an attempt. A retry concerns only the records that {@link mayTryAgain}. */
export type NextStep = { finish: true } | { retryInMs: number };

/**
 * Worth another attempt: known not to have been applied and retryable; of unknown outcome where the connector says that a
 * repetition leaves the same state (an update or delete by id); or pending, when the next attempt asks the
 * provider first. An unknown create is never sent again by itself.
 */
export function mayTryAgain(outcome: RecordOutcome): boolean {
  return outcome.kind !== 'applied' && (outcome.failure.retryable || isPending(outcome));
}

/** Unknown only as yet: the provider is still to be asked. */
export function isPending(outcome: RecordOutcome): boolean {
  return outcome.kind !== 'applied' && outcome.failure.pending === true;
}

/**
 * Decides from one attempt's outcomes. `attempt` counts from 1; `deadline` and `now` are on one clock, in milliseconds.
 * The wait is the backoff or the provider's own wish, whichever is longer; an attempt that could not start before the
 * deadline is none.
 */
export function nextStep(
  outcomes: readonly RecordOutcome[],
  attempt: number,
  deadline: number,
  now: number,
  policy: RetryPolicy = defaultRetryPolicy,
): NextStep {
  const waits = outcomes.flatMap((outcome) =>
    outcome.kind !== 'applied' && mayTryAgain(outcome) ? [outcome.failure.retryAfterMs ?? 0] : [],
  );
  if (waits.length === 0) return { finish: true };
  const retryInMs = Math.max(backoffMs(attempt, policy), ...waits);
  return now + retryInMs < deadline ? { retryInMs } : { finish: true };
}
