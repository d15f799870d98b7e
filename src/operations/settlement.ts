import { countEnd, type Counted } from '../events/index.ts';
import type { Failure } from '../providers/index.ts';
import type { Answer, KeyClaim, OperationError, Place } from './work.ts';

/** What is kept of a record's outcome; the provider's echo is not. */
export type StoredOutcome =
  | { kind: 'applied'; recordId?: string; lookedUpBy?: string; created?: boolean }
  | { kind: 'notApplied' | 'unknown'; failure: Failure };

/** One line of an operation's log. */
export interface LogEntry {
  id: string;
  severity: 'info' | 'warning' | 'error';
  message: { msg: string; error?: string; operation_id: string; details: Record<string, string> };
}

/** The end of one attempt as the ledger records it. `succeeded`, `failed` and `unknown` are added to what stands there. */
export interface Settlement {
  projectId: string;
  operationId: string;
  installationId: string;
  actionType: string;
  resource: string;
  place: Place;
  /** The requests of the records that failed, where each record came by its own; the first ten. */
  requestIds?: string[];
  attempt: number;
  seq: string;
  lease: string;
  mark: string | null;
  done: boolean;
  /** Until the next attempt, in milliseconds; 0 when done. */
  waitMs: number;
  /** Whether the attempt counts. */
  spent: boolean;
  status: 'in_progress' | 'success' | 'failure';
  result: string | null;
  /** All errors of the operation so far; also those of the records that will be tried again. */
  errors: OperationError[];
  succeeded: number;
  failed: number;
  unknown: number;
  outcomes: { index: number; outcome: StoredOutcome }[];
  /** The first of this attempt. */
  failure?: Failure;
  log?: LogEntry;
  /** Of the event that tells of the end of an asynchronous write, if somebody is told. */
  eventId?: string;
  /** What the caller gets, for the idempotency key of the operation. */
  answer?: Answer & { key: KeyClaim };
}

/** Of the end of an attempt at an operation of any action, what is counted and told. */
export type Ended = Pick<
  Settlement,
  | 'projectId'
  | 'operationId'
  | 'installationId'
  | 'actionType'
  | 'resource'
  | 'place'
  | 'requestIds'
  | 'attempt'
  | 'done'
  | 'spent'
  | 'status'
  | 'failure'
  | 'eventId'
> & { errors: readonly OperationError[] };

/** What is counted of an end, for the charts of the project. */
export function countedOf({ actionType, done, status, operationId, errors }: Ended): Counted[] {
  if (!done) return [];
  const reason = status === 'success' && errors.length > 0 ? 'partlyDone' : errors[0]?.category;
  return countEnd(actionType, status, operationId, reason);
}
