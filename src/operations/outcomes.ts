import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { Settlement } from './settle.ts';

/** Counts what was recorded: the attempt, and the operation if it has ended. */
export function countAttempt({ attempts, operations, dead }: Metrics, settled: Settlement): void {
  const { actionType: kind, place, status } = settled;
  const provider = place.provider ?? 'unknown';
  if (settled.spent) attempts.inc({ kind, provider, category: settled.failure?.category ?? 'none' });
  if (!settled.done) return;
  operations.inc({ action: kind, provider, status });
  const outcome = worstOf(settled);
  if (outcome) dead.inc({ kind, provider, outcome });
}

function worstOf({ errors }: Settlement): 'failed' | 'unknown' | undefined {
  if (errors.length === 0) return undefined;
  return errors.some(({ category }) => category === 'unknownOutcome') ? 'unknown' : 'failed';
}

/** A line for an operation that did not go well to its end. What the provider said may be its customer's: it stands in the ledger only. */
export function tellEnd(log: Logger, settled: Settlement): void {
  const { errors, projectId, operationId, installationId, place, resource, attempt } = settled;
  const [first] = errors;
  if (!first) return;
  const isGivenUp = first.retryable && attempt > 1;
  log.warn(
    {
      projectId,
      ...place,
      installationId,
      operationId,
      object: resource,
      attempts: attempt,
      category: first.category,
      providerStatus: first.provider?.status,
      providerCode: first.provider?.code,
    },
    isGivenUp ? 'an operation failed, and is not tried again' : 'an operation failed',
  );
}
