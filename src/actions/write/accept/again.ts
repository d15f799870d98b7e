import { createHash } from 'node:crypto';
import { wholeProject } from '../../../events/index.ts';
import { Problem } from '../../../kit/problem.ts';
import {
  isNotDone,
  type KeyClaim,
  type Operations,
  type WrittenOperation,
} from '../../../operations/index.ts';

/** The key under which an operation is written again, by whomever: a second time it stands for the first. */
export function keyOfRetry(operationId: string): KeyClaim {
  const hash = createHash('sha256').update(operationId).digest();
  return { principal: 'retry', key: operationId, hash, forever: true };
}

/** What a request is accepted under, and the write of which nothing was done that it is made in place of. */
export interface Repetition {
  claim: KeyClaim;
  retryOf?: WrittenOperation;
}

/**
 * What a request is accepted under whose key may stand for a write of which nothing was done. Goes from that write to those that were made
 * in its place, by requests with `Retry-Failed` or by `:retry`. What may have been done, or is under way, is the end: it is answered as it is.
 */
export async function repetitionOf(
  operations: Pick<Operations, 'earlierUse' | 'written'>,
  projectId: string,
  first: KeyClaim,
): Promise<Repetition> {
  let at: Repetition = { claim: first };
  for (;;) {
    const earlier = await operations.earlierUse(projectId, at.claim);
    if (!earlier?.ended) return at;
    const written = await operations
      .written(wholeProject(projectId), earlier.operationId)
      .catch(whereForgotten);
    if (!written || !didNothing(written)) return { claim: at.claim };
    at = { claim: keyOfRetry(earlier.operationId), retryOf: written };
  }
}

/** The history of an operation is kept for a time of its own. */
function whereForgotten(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'not-found') return;
  throw error;
}

/** Whether an operation failed, and none of its records was done or may have been. Pure. */
export function didNothing({ operation, records }: WrittenOperation): boolean {
  return operation.status === 'failure' && records.every(isNotDone);
}
