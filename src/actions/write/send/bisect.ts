import type { Failure, RecordOutcome, WriteCall } from '../../../providers/index.ts';

/** What became of a call; `status` when the provider answered. */
export interface CallResult {
  outcomes: RecordOutcome[];
  status?: number;
}

/** The most calls beyond the first: enough to find some three culprits among the records of one batch, or the fields of one read. */
export function callsFor(records: number): number {
  return 6 * Math.ceil(Math.log2(records));
}

/**
 * Goes on from the first answer to a call: where the provider refuses all of it for one of its records, sends the halves, and
 * theirs, until the culprits stand alone and the others are written. Records that are still in the dark after so many calls are known not
 * to have been written, and may be sent again: an asynchronous write goes on with its next attempt.
 */
export async function narrowDown(
  call: WriteCall,
  first: CallResult,
  send: (part: WriteCall) => Promise<CallResult>,
): Promise<RecordOutcome[]> {
  const refused = refusalOfAll(call, first);
  if (!refused) return first.outcomes;
  const outcomes = new Map<number, RecordOutcome>();
  let callsLeft = callsFor(call.records.length);
  const parts = halves([...call.records.keys()], refused);
  for (const { slots, failure } of parts) {
    if (callsLeft === 0) {
      const left: RecordOutcome = { kind: 'notApplied', failure: undecided(failure, slots.length) };
      for (const slot of slots) outcomes.set(slot, left);
      continue;
    }
    callsLeft -= 1;
    const part = { ...call, records: slots.flatMap((slot) => call.records[slot] ?? []) };
    const result = await send(part);
    const refusedAgain = refusalOfAll(part, result);
    // The loop comes to what is added: the largest parts first.
    if (refusedAgain) parts.push(...halves(slots, refusedAgain));
    else slots.forEach((slot, i) => outcomes.set(slot, result.outcomes[i] as RecordOutcome));
  }
  return call.records.map((_, slot) => outcomes.get(slot) as RecordOutcome);
}

/** Why the provider refused the whole of a batch, where that may be the fault of one record: a 4xx about what was sent. */
function refusalOfAll(call: WriteCall, { outcomes, status = 0 }: CallResult): Failure | undefined {
  if (call.allOrNone || call.records.length < 2 || status < 400 || status >= 500) return undefined;
  const [first] = outcomes;
  if (first?.kind !== 'notApplied' || !outcomes.every(({ kind }) => kind === 'notApplied')) return undefined;
  const { category, retryable } = first.failure;
  return !retryable && (category === 'validation' || category === 'conflict') ? first.failure : undefined;
}

interface Part {
  slots: number[];
  failure: Failure;
}

function halves(slots: readonly number[], failure: Failure): Part[] {
  const middle = Math.ceil(slots.length / 2);
  return [slots.slice(0, middle), slots.slice(middle)].map((half) => ({ slots: half, failure }));
}

function undecided(failure: Failure, records: number): Failure {
  if (records === 1) return { ...failure, retryable: true };
  return {
    ...failure,
    retryable: true,
    message: `${failure.message} (for one or more of ${records} records; which one, the provider did not say)`,
  };
}
