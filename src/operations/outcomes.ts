import type { Logger } from '../kit/log.ts';
import { declareCounter, type Metrics } from '../kit/metrics.ts';
import type { Ended } from './settlement.ts';

const operations = declareCounter('svc_operations_total', 'Operations that ended.', [
  'action',
  'provider',
  'status',
]);
const attempts = declareCounter(
  'svc_attempts_total',
  'Attempts that ended, by the category of their first failure; none: all went well.',
  ['kind', 'provider', 'category'],
);
const dead = declareCounter(
  'svc_work_dead_total',
  'Operations that ended with records that failed for good, or whose outcome is unknown.',
  ['kind', 'provider', 'outcome'],
);

/** What this room counts. */
export const operationMetrics = [operations, attempts, dead];

/** Counts what was recorded: the attempt, and the operation if it has ended. */
export function countAttempt(metrics: Metrics, settled: Ended): void {
  const { actionType: kind, place, status } = settled;
  const provider = place.provider ?? 'unknown';
  if (settled.spent)
    attempts.in(metrics).inc({ kind, provider, category: settled.failure?.category ?? 'none' });
  if (!settled.done) return;
  operations.in(metrics).inc({ action: kind, provider, status });
  const outcome = worstOf(settled);
  if (outcome) dead.in(metrics).inc({ kind, provider, outcome });
}

function worstOf({ errors }: Ended): 'failed' | 'unknown' | undefined {
  if (errors.length === 0) return undefined;
  return errors.some(({ category }) => category === 'unknownOutcome') ? 'unknown' : 'failed';
}

/** A line for an operation that did not go well to its end. What the provider said may be its customer's: it stands in the ledger only. */
export function tellEnd(log: Logger, settled: Ended): void {
  const { errors, projectId, operationId, installationId, place, requestIds, resource, attempt, status } =
    settled;
  const [first] = errors;
  if (!first) return;
  const isGivenUp = first.retryable && attempt > 1;
  log.warn(
    {
      projectId,
      ...place,
      requestIds,
      installationId,
      operationId,
      object: resource,
      attempts: attempt,
      category: first.category,
      providerStatus: first.provider?.status,
      providerCode: first.provider?.code,
    },
    status === 'success'
      ? 'records of an operation failed, and others were written'
      : isGivenUp
        ? 'an operation failed, and is not tried again'
        : 'an operation failed',
  );
}
