import type { Connector, Failure, RecordOutcome } from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { WriteJob } from './job.ts';

/** Whether the records stand or fall together: not where the provider commits what it can, whatever is asked. */
export function isOneCall(
  { allOrNone, kind }: Pick<WriteJob, 'allOrNone' | 'kind'>,
  { partialOnly = [] }: Pick<Connector, 'partialOnly'>,
): boolean {
  return allOrNone && !partialOnly.includes(kind);
}

/** What the caller is told of a record that keeps others back, and of them; how its own outcome is found out is its own. */
const shared = ['provider', 'retryAfterMs', 'unreadable', 'appInvalid', 'gone', 'refusedHere'] as const;

/** Of all or none, a record that cannot be sent keeps the others back. */
export function keepAllBack(
  records: readonly PlannedRecord[],
  toSend: Map<number, PlannedRecord>,
  outcomes: Map<number, RecordOutcome>,
): void {
  const failures = failuresIn(outcomes.values());
  const [first] = failures;
  if (!first) return;
  const told = shared.flatMap((name) => (first[name] === undefined ? [] : [[name, first[name]] as const]));
  const failure: Failure = {
    ...(Object.fromEntries(told) as Pick<Failure, (typeof shared)[number]>),
    category: first.category,
    retryable: failures.every(({ retryable }) => retryable),
    message: `not sent, since all or none was asked for and another record cannot be: ${first.message}`,
  };
  records.forEach((_, slot) => {
    if (outcomes.get(slot)?.kind !== 'notApplied') outcomes.set(slot, { kind: 'notApplied', failure });
  });
  toSend.clear();
}

/**
 * All are sent again or none is; what had nothing to change fares as the others. Where one is known not to be done and none was, none of
 * which the answer says nothing was, either. Pure.
 */
export function shareFate(outcomes: readonly RecordOutcome[], unchanged: readonly number[]): RecordOutcome[] {
  const isDone = outcomes.some(({ kind }, slot) => kind === 'applied' && !unchanged.includes(slot));
  const refused = isDone ? undefined : outcomes.find(({ kind }) => kind === 'notApplied');
  const failed = refused ?? outcomes.find(({ kind }) => kind !== 'applied');
  if (!failed) return [...outcomes];
  const all = outcomes.map((outcome, slot) =>
    unchanged.includes(slot) || (refused && outcome.kind === 'unknown') ? failed : outcome,
  );
  const retryable = failuresIn(all).every((failure) => failure.retryable);
  return all.map((outcome) => withRetryable(outcome, retryable));
}

function withRetryable(outcome: RecordOutcome, retryable: boolean): RecordOutcome {
  if (outcome.kind === 'applied') return outcome;
  return { kind: outcome.kind, failure: { ...outcome.failure, retryable } };
}

function failuresIn(outcomes: Iterable<RecordOutcome>): Failure[] {
  return [...outcomes].flatMap((one) => (one.kind === 'applied' ? [] : [one.failure]));
}
