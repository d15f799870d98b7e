import { isUnanswered, leavesOpen, originOf } from '../kit/db/faults.ts';
import { settledAfter } from '../kit/db/in-time.ts';
import { problem, type Problem } from '../kit/problem.ts';
import type { KeyClaim } from './work.ts';

/** Acceptances that were sent to the database, which did not say in time whether it stored them. */
export class InDoubt extends Error {
  override readonly name = 'InDoubt';
  /** The operation that each may be in, by the id of what was to be accepted. */
  readonly operations: ReadonlyMap<string, string>;

  constructor(operations: ReadonlyMap<string, string>, cause: unknown) {
    super('the database did not say whether it stored what was to be accepted', { cause });
    this.operations = operations;
  }
}

/** What came into doubt while a group was being stored. */
export interface Doubts {
  /** After a statement that was to store this in the operation: it is in doubt if the error leaves that open. */
  note(error: unknown, id: string, operationId: string): void;
  /** What to fail with: the error itself, or {@link InDoubt}. */
  of(error: unknown): unknown;
  /** The doubt of one of them, if there is any. */
  about(id: string): InDoubt | undefined;
  /** It is known that what was sent of this is not stored and will not be. */
  settle(id: string): void;
}

export function createDoubts(): Doubts {
  const open = new Map<string, string>();
  let last: unknown;
  return {
    note(error, id, operationId) {
      if (!leavesOpen(error)) return;
      open.set(id, operationId);
      last = error;
    },
    of: (error) => (open.size > 0 ? new InDoubt(open, error) : error),
    about: (id) => (open.has(id) ? new InDoubt(new Map(open), last) : undefined),
    settle: (id) => void open.delete(id),
  };
}

/** Of one that another node has by now. */
export function doubtOf(operationId: string): InDoubt {
  return new InDoubt(new Map([[operationId, operationId]]), undefined);
}

/**
 * What the caller is told of an acceptance that failed. One that may be stored is found again by its key; without a key its
 * operation is named, since a repetition could be a second one.
 */
export function explained(error: unknown, id: string, key: KeyClaim | undefined): unknown {
  if (!(error instanceof InDoubt)) return error;
  const operationId = error.operations.get(id);
  if (operationId === undefined) return problem('database-unavailable', { cause: originOf(error.cause) });
  return key ? openUnderKey(error, key) : openWithoutKey(error, operationId);
}

/**
 * The same of a synchronous write that nobody else sends: what its node does not know to be stored is not sent. If the node ends before it
 * could end the write, its key stands for an unknown outcome.
 */
export function explainedUnsent(error: unknown, key: KeyClaim | undefined): unknown {
  if (!(error instanceof InDoubt)) return error;
  const detail = key
    ? `Nothing was sent from here: ${unsaid}. The same request with the same Idempotency-Key finds what becomes of it.`
    : `Nothing was sent: ${unsaid}.`;
  return problem('database-unavailable', { detail, cause: originOf(error.cause) });
}

/** Whether the database answers nobody now: who waits behind the group that failed fails with it, and is not in it. */
export function failsAll(error: unknown): boolean {
  return isUnanswered(error instanceof InDoubt ? error.cause : error);
}

const unsaid = 'the database did not say in time whether it stored the write';

function openUnderKey({ cause }: InDoubt, { forever }: KeyClaim): Problem {
  // A key of our own is that of a repetition, whose request needs none.
  const same = forever ? 'The same request' : 'The same request with the same Idempotency-Key';
  return problem('database-unavailable', {
    detail: `It is not known whether the write was accepted: ${unsaid}. ${same} stores it once.`,
    retryAfterSeconds: 1,
    cause: originOf(cause),
  });
}

function openWithoutKey({ cause }: InDoubt, operationId: string): Problem {
  return problem('outcome-unknown', {
    detail: `It is not known whether the write was accepted: ${unsaid}. If it did, the write is sent.`,
    remedy: `Once other writes are accepted again, wait ${settledAfter} and look whether the operation is there, with the record: if not, nothing was accepted, and the write may be sent again. A request with an Idempotency-Key may be repeated at once.`,
    retryable: false,
    extra: { operationId, category: 'unknownOutcome' },
    cause: originOf(cause),
  });
}
