import { createHash } from 'node:crypto';
import { wholeProject } from '../../../events/index.ts';
import { Problem, problem } from '../../../kit/problem.ts';
import {
  isNotDone,
  isUnresolved,
  type EarlierUse,
  type KeyClaim,
  type Operations,
  type WrittenOperation,
} from '../../../operations/index.ts';
import { leavesTheSame, storedWriteOf } from '../prepare/stored.ts';

/** The key under which an operation is written again, by whomever: a second time it stands for the first. */
export function keyOfRetry(operationId: string): KeyClaim {
  const hash = createHash('sha256').update(operationId).digest();
  return { principal: 'retry', key: operationId, hash, forever: true };
}

/** What a request is accepted under, and the failed write that it is made in place of. */
export interface Repetition {
  claim: KeyClaim;
  retryOf?: WrittenOperation;
  /** What the claim stood for when it was looked at; nothing: it was free. */
  earlier?: EarlierUse;
}

/**
 * What a request is accepted under whose key may stand for a write that failed. Goes from that write to those that were made in its place,
 * by repetitions or by `:retry`. What may not be repeated, or is under way, is the end: it is answered as it is. Without `retriesFailed`
 * (`Retry-Failed`) only what a node left when it stopped before its turn is repeated: nobody was answered then.
 */
export async function repetitionOf(
  operations: Pick<Operations, 'earlierUse' | 'written'>,
  projectId: string,
  first: KeyClaim,
  retriesFailed: boolean,
): Promise<Repetition> {
  const mayRepeat = retriesFailed ? isRepeatable : isAbandoned;
  let at: Repetition = { claim: first };
  for (;;) {
    const earlier = await operations.earlierUse(projectId, at.claim);
    if (!earlier) return at;
    if (!earlier.ended || (earlier.answer && !retriesFailed)) return { ...at, earlier };
    const written = await operations
      .written(wholeProject(projectId), earlier.operationId)
      .catch(whereForgotten);
    const claim = keyOfRetry(earlier.operationId);
    if (written && mayRepeat(written)) at = { claim, retryOf: written };
    // What is not kept any more is not written again; where it was before, that is the answer.
    else if (!written && (await operations.earlierUse(projectId, claim))) at = { claim };
    else return { claim: at.claim, earlier };
  }
}

/**
 * Throws while it is open whether a failed operation is written again by the one that stands in its place: a synchronous write of which
 * nothing is recorded may be taken back, and nothing tells of it then.
 */
export async function refuseUnsettled(
  operations: Pick<Operations, 'earlierUse'>,
  projectId: string,
  operationId: string,
): Promise<void> {
  const use = await operations.earlierUse(projectId, keyOfRetry(operationId)).catch(whereErased);
  if (use === 'erased' || (use && !mayBeTakenBack(use))) return;
  throw problem('operation-in-progress', {
    detail: 'A synchronous write stands in its place that may still be taken back. Nothing was done.',
    remedy: 'Send the same request again after `retryAfter`.',
    retryAfterSeconds: 5,
  });
}

function mayBeTakenBack({ ended, attempts, request }: EarlierUse): boolean {
  return !ended && attempts === 0 && request['mode'] === 'synchronous';
}

/** What was written again stays so, also where nothing of it is kept. */
function whereErased(error: unknown): 'erased' {
  if (error instanceof Problem && error.code === 'operation-erased') return 'erased';
  throw error;
}

/** The history of an operation is kept for a time of its own. */
export function whereForgotten(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'not-found') return;
  throw error;
}

/** Whether an operation failed, and each of its records may be written again. Pure. */
function isRepeatable(written: WrittenOperation): boolean {
  return written.operation.status === 'failure' && written.records.every(repeatableOf(written));
}

/** Whether a node stopped before the turn of a synchronous write came: nothing was sent, and nobody was answered. Pure. */
function isAbandoned({ operation, request, records }: WrittenOperation): boolean {
  return (
    operation.status === 'failure' &&
    storedWriteOf(request).mode === 'synchronous' &&
    records.every(
      (record) =>
        isNotDone(record) && record.outcome?.kind === 'notApplied' && record.outcome.failure.abandoned,
    )
  );
}

/**
 * Which records of a write may be written again by whoever knows its key: those that were not done, and of updates and deletes, which leave
 * the same state (docs/invariants.md, 15), also those of unknown outcome of which its answer said so. Pure.
 */
export function repeatableOf({ request }: Pick<WrittenOperation, 'request'>): typeof isNotDone {
  const { kind } = storedWriteOf(request);
  return (record) =>
    isNotDone(record) ||
    (leavesTheSame(kind) &&
      isUnresolved(record) &&
      record.outcome?.kind === 'unknown' &&
      record.outcome.failure.retryable);
}
