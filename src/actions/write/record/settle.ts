import { newId } from '../../../kit/ids.ts';
import {
  placeOf,
  type LogEntry,
  type OperationError,
  type Settlement,
  type StoredOutcome,
  type Tally,
  type WorkItem,
} from '../../../operations/index.ts';
import { abilitiesOf, type Failure, type RecordOutcome, type WriteKind } from '../../../providers/index.ts';
import { isPending, mayTryAgain, nextStep, type RetryPolicy } from './next-step.ts';
import { refusalsAmong } from '../send/attempt-upsert.ts';
import { isOneCall } from '../send/one-call.ts';
import type { ItemResult } from '../send/sender.ts';
import { describeEnd, describeProgress, describeResult } from './sentence.ts';

/** Turns what a sender said of an item into what the ledger records; pure but for ids of the log line and the event. */
export function settle(item: WorkItem, result: ItemResult, policy: RetryPolicy): Settlement {
  return settleBy(mayTryAgain, item, result, policy);
}

/** A synchronous write has no second attempt; what the provider could not be asked about it now is asked later. */
export function settleSynchronous(item: WorkItem, result: ItemResult, policy: RetryPolicy): Settlement {
  return settleBy(isPending, item, result, policy);
}

/** Of a restored database: whatever else an outcome would lead to, nothing of the item is sent any more. */
export function settleUnsent(item: WorkItem, outcome: RecordOutcome): Settlement {
  return finish(
    item,
    item.records.map(() => outcome),
  );
}

function settleBy(
  again: (outcome: RecordOutcome) => boolean,
  item: WorkItem,
  result: ItemResult,
  policy: RetryPolicy,
): Settlement {
  if (result.kind !== 'outcomes') return putBack(item, result.kind === 'postponed' ? result.inMs : 0);
  const complete = completeOutcomes(item, result.outcomes);
  const isRefused = refusalsAmong(complete, isOneUpsert(item));
  const outcomes = complete.map((outcome, at) => repeated(item, withEarlier(item, at, outcome, isRefused)));
  const step = nextStep(outcomes.filter(again), item.attempt, item.remainingMs, 0, policy);
  if ('finish' in step) return finish(item, outcomes);
  return retry(item, outcomes, again, step.retryInMs);
}

/** Every record of the item with the same outcome. */
export function allOutcomes(item: WorkItem, outcome: RecordOutcome): ItemResult {
  return { kind: 'outcomes', outcomes: item.records.map(() => outcome) };
}

/** The failure of something that was, or may have been, sent and whose end nobody saw. */
export function unknownOutcome(message: string): RecordOutcome {
  return { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false, message } };
}

/**
 * What the caller of a synchronous write is told. While nothing is recorded of an upsert, another node may take it over and send it
 * again: that it was not done says nothing of what becomes of it.
 */
export function outcomesTold(
  kind: WriteKind,
  isRecorded: boolean,
  outcomes: readonly RecordOutcome[],
): readonly RecordOutcome[] {
  if (isRecorded || kind !== 'upsert') return outcomes;
  return outcomes.map((outcome) =>
    outcome.kind === 'notApplied' ? { kind: 'unknown', failure: unrecorded(outcome.failure) } : outcome,
  );
}

const unrecorded = ({ message }: Failure): Failure => ({
  category: 'unknownOutcome',
  // A repetition leaves the same state.
  retryable: true,
  message: `it was not done (${message}), which could not be recorded in time: it may be sent again`,
});

/** An attempt that threw, perhaps after its first byte. */
export function brokeOff(error: unknown): RecordOutcome {
  return unknownOutcome(`the attempt broke off: ${error instanceof Error ? error.message : String(error)}`);
}

/** What was sent by a node that is gone. */
export function unknownAfterLoss(item: WorkItem): ItemResult {
  const why =
    'its node ended, or the database was restored, before an answer was recorded; it may have been sent, and was not sent again';
  return allOutcomes(item, unknownOutcome(why));
}

/** The end of an item whose deadline passed before an attempt could start: the attempt before says why, if there was one. */
export function deadlinePassed(item: WorkItem): ItemResult {
  const isAbandoned = item.remainingMs > 0;
  const reason = isAbandoned
    ? 'its node stopped before its turn came'
    : 'the deadline passed before an attempt could start';
  return endedUnsent(item, reason, 'the deadline passed before another attempt', isAbandoned);
}

/** The end of an item that somebody asked not to send any more. */
export function canceled(item: WorkItem): ItemResult {
  return endedUnsent(item, 'it was canceled', 'it was canceled before another attempt');
}

/** Nothing is sent of it any more: the attempt before says why, if there was one. */
function endedUnsent(item: WorkItem, reason: string, afterAttempt: string, isAbandoned = false): ItemResult {
  const outcomes = item.records.map(({ index }): RecordOutcome => {
    const before = item.earlier.get(index);
    if (!before) {
      const message = `${reason}; nothing was sent`;
      const why = { category: 'internal', retryable: true, message } as const;
      return { kind: 'notApplied', failure: isAbandoned ? { ...why, abandoned: true } : why };
    }
    const { category, retryable, provider } = before;
    const message = `${before.message}; ${afterAttempt}`;
    return {
      kind: 'notApplied',
      failure: { category, retryable, message, ...(provider ? { provider } : {}) },
    };
  });
  return { kind: 'outcomes', outcomes };
}

/**
 * After an attempt of unknown outcome, one that is known not to have been applied does not make the record known, unless
 * the provider was asked for the record.
 */
function withEarlier(
  item: WorkItem,
  at: number,
  outcome: RecordOutcome,
  isRefused: (failure: Failure) => boolean,
): RecordOutcome {
  const before = item.earlier.get(item.records[at]?.index ?? -1);
  if (outcome.kind !== 'notApplied' || before?.category !== 'unknownOutcome') return outcome;
  if (outcome.failure.lookedUpBy !== undefined) return outcome;
  const isEnd = isUpsert(item) && !item.expired && (outcome.failure.gone || isRefused(outcome.failure));
  const message = item.expired
    ? outcome.failure.message
    : `an earlier attempt may have been done, the last one was not: ${outcome.failure.message}`;
  const failure: Failure = { ...outcome.failure, category: 'unknownOutcome', message };
  return { kind: 'unknown', failure: isEnd ? { ...failure, refused: true } : failure };
}

/**
 * An upsert leaves the same state when it is sent again: that is how its outcome becomes known, also of a synchronous one. It ends where a
 * repetition was refused for good, or is impossible.
 */
function repeated(item: WorkItem, outcome: RecordOutcome): RecordOutcome {
  if (outcome.kind !== 'unknown' || !isUpsert(item) || outcome.failure.refused) return outcome;
  return { kind: 'unknown', failure: { ...outcome.failure, retryable: true, pending: true } };
}

function isUpsert({ request }: WorkItem): boolean {
  return request['type'] === 'upsert';
}

/** All or none of which is done. */
function isOneUpsert(item: WorkItem): boolean {
  const allOrNone = item.request['allOrNone'] === true;
  const abilities = abilitiesOf(placeOf(item.request).provider ?? '');
  return isUpsert(item) && isOneCall({ kind: 'upsert', allOrNone }, abilities);
}

/** A record that the sender forgot was perhaps sent. */
function completeOutcomes(item: WorkItem, outcomes: readonly RecordOutcome[]): RecordOutcome[] {
  return item.records.map(
    (_, at) => outcomes[at] ?? unknownOutcome('no outcome was reported for this record'),
  );
}

function putBack(item: WorkItem, waitMs: number): Settlement {
  return {
    ...base(item),
    done: false,
    waitMs,
    spent: false,
    status: 'in_progress',
    result: null,
    errors: [],
    outcomes: [],
  };
}

function finish(item: WorkItem, outcomes: readonly RecordOutcome[]): Settlement {
  const settled = item.records.map((record, at) => ({
    index: record.index,
    outcome: outcomes[at] as RecordOutcome,
  }));
  const counts = tally(settled, item.tally);
  const status = counts.succeeded > 0 || item.total === 0 ? 'success' : 'failure';
  const text = describeResult(item, counts);
  return {
    ...base(item),
    ...added(settled),
    ...firstFailure(outcomes),
    ...requestsOf(item, outcomes),
    done: true,
    waitMs: 0,
    spent: !item.expired,
    status,
    result: text,
    errors: counts.errors,
    outcomes: settled.map(({ index, outcome }) => ({ index, outcome: stored(outcome) })),
    log: logEntry(
      item,
      status === 'success' ? 'info' : 'error',
      describeEnd(item, counts),
      counts.errors,
      resolutionOf(outcomes),
    ),
    ...(item.request['mode'] === 'asynchronous' ? { eventId: newId() } : {}),
  };
}

/** Records that are settled keep their outcome; the others wait for the next attempt. */
function retry(
  item: WorkItem,
  outcomes: readonly RecordOutcome[],
  again: (outcome: RecordOutcome) => boolean,
  waitMs: number,
): Settlement {
  const all = item.records.map((record, at) => ({
    index: record.index,
    outcome: outcomes[at] as RecordOutcome,
  }));
  const settled = all.filter(({ outcome }) => !again(outcome));
  const waiting = tally(all.filter(({ outcome }) => again(outcome)));
  return {
    ...base(item),
    ...added(settled),
    ...firstFailure(outcomes),
    done: false,
    waitMs,
    spent: true,
    status: 'in_progress',
    result: null,
    errors: [...tally(settled, item.tally).errors, ...waiting.errors],
    outcomes: settled.map(({ index, outcome }) => ({ index, outcome: stored(outcome) })),
    log: logEntry(item, 'warning', describeProgress(item), waiting.errors, {
      nextAttemptInMs: String(waitMs),
      ...resolutionOf(outcomes),
    }),
  };
}

/** For the log: by which unique fields records were looked for whose answer was lost, and how many. */
function resolutionOf(outcomes: readonly RecordOutcome[]): Record<string, string> {
  const fields = outcomes.flatMap((outcome) => {
    const field = outcome.kind === 'applied' ? outcome.lookedUpBy : outcome.failure.lookedUpBy;
    return field === undefined ? [] : [field];
  });
  if (fields.length === 0) return {};
  return { lookedUpBy: [...new Set(fields)].join(', '), resolved: String(fields.length) };
}

type Base = 'projectId' | 'operationId' | 'installationId' | 'actionType' | 'resource' | 'place' | 'attempt';

function base(
  item: WorkItem,
): Pick<Settlement, Base | 'seq' | 'lease' | 'mark' | 'succeeded' | 'failed' | 'unknown'> {
  const { projectId, operationId, installationId, actionType, resource, attempt, seq, lease, mark } = item;
  return {
    projectId,
    operationId,
    installationId,
    actionType,
    resource,
    place: placeOf(item.request),
    attempt,
    seq,
    lease,
    mark,
    succeeded: 0,
    failed: 0,
    unknown: 0,
  };
}

function firstFailure(outcomes: readonly RecordOutcome[]): Pick<Settlement, 'failure'> {
  const [failure] = outcomes.flatMap((outcome) => (outcome.kind === 'applied' ? [] : [outcome.failure]));
  return failure ? { failure } : {};
}

const mostRequestsTold = 10;

/** Of the records that failed in this attempt, those that came by requests of their own. */
function requestsOf(item: WorkItem, outcomes: readonly RecordOutcome[]): Pick<Settlement, 'requestIds'> {
  const requestIds = item.records.flatMap(({ payload: { requestId } }, at) =>
    typeof requestId === 'string' && outcomes[at]?.kind !== 'applied' ? [requestId] : [],
  );
  return requestIds.length > 0 ? { requestIds: requestIds.slice(0, mostRequestsTold) } : {};
}

type Settled = readonly { index: number; outcome: RecordOutcome }[];

function added(settled: Settled): Pick<Settlement, 'succeeded' | 'failed' | 'unknown'> {
  const { succeeded, failed, unknown } = tally(settled);
  return { succeeded, failed, unknown };
}

function tally(settled: Settled, before: Tally = { succeeded: 0, failed: 0, unknown: 0, errors: [] }): Tally {
  const count = (kind: RecordOutcome['kind']): number =>
    settled.filter(({ outcome }) => outcome.kind === kind).length;
  const errors = settled.flatMap(({ index, outcome }) =>
    outcome.kind === 'applied' ? [] : [{ index, ...outcome.failure }],
  );
  return {
    succeeded: before.succeeded + count('applied'),
    failed: before.failed + count('notApplied'),
    unknown: before.unknown + count('unknown'),
    errors: [...before.errors, ...errors],
  };
}

function stored(outcome: RecordOutcome): StoredOutcome {
  if (outcome.kind !== 'applied') return { kind: outcome.kind, failure: outcome.failure };
  const { recordId, lookedUpBy, created } = outcome;
  return {
    kind: 'applied',
    ...(created === undefined ? {} : { created }),
    ...(recordId === undefined ? {} : { recordId }),
    ...(lookedUpBy === undefined ? {} : { lookedUpBy }),
  };
}

function logEntry(
  item: WorkItem,
  severity: LogEntry['severity'],
  msg: string,
  errors: readonly OperationError[],
  details: Record<string, string>,
): LogEntry {
  const first = errors[0];
  return {
    id: newId(),
    severity,
    message: {
      msg,
      ...(first ? { error: first.message } : {}),
      operation_id: item.operationId,
      details: {
        object: item.resource,
        attempt: String(item.attempt),
        ...(first ? { category: first.category } : {}),
        ...details,
      },
    },
  };
}
