import {
  failureOfTransport,
  unknownOutcome,
  withheld,
  type Connector,
  type Failure,
  type ObjectDescription,
  type RecordOutcome,
  type WriteCall,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import { narrowDown, type CallResult } from './bisect.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { keyAsId } from '../prepare/upsert.ts';
import { mostWeight, weightOf } from './weight.ts';
import type { WriteContext, WriteJob } from './job.ts';
import { lookAt, mergesIn, withoutFilledFields } from './if-empty.ts';
import { isOneCall, keepAllBack, shareFate } from './one-call.ts';
import { describedFor, ledTo, lookUp, settleConditional } from './look-up.ts';
import { turnsOf } from './turns.ts';

export type { WriteContext, WriteJob };

/**
 * The one executor of writes, for both modes: an outcome for each record, in order. `judge` decides what is sent again before the records
 * of one call share their fate. Throws only for our own faults.
 */
export async function executeWrite(
  job: WriteJob,
  records: readonly PlannedRecord[],
  context: WriteContext,
  judge: (outcomes: RecordOutcome[]) => RecordOutcome[] = (outcomes) => outcomes,
): Promise<RecordOutcome[]> {
  const outcomes = new Map<number, RecordOutcome>();
  const first = sift(job, records, context.connector);
  const described = await describedFor(first.allowed.values(), context);
  const description = described && 'object' in described ? described.object : undefined;
  const { allowed, refused } = description ? sift(job, records, context.connector, description) : first;
  for (const [slot, failure] of refused) outcomes.set(slot, { kind: 'notApplied', failure });
  const merged = new Map<string, string>();
  const idAt = afterMerges(idsOf(allowed, context.connector), merged);
  const unsettled: Unsettled = { slots: new Set(), idAt };
  const unchanged: number[] = [];
  for (let left = allowed; left.size > 0;) {
    const due = firstTurn(left, idAt);
    const looked = recordsAt(slotsDue([...due.keys()], unsettled, outcomes), due);
    const current = await lookAt(job, looked, context);
    const standing = await lookUp(job, looked, described, context);
    for (const [id, into] of [...mergesIn(current), ...ledTo(standing)]) merged.set(id, into);
    // Two ids or values may turn out to be of one record: the later one is looked at again behind the write of the first.
    const turn = firstTurn(looked, idAt);
    if (job.allOrNone) refuseTwice(looked, idAt, outcomes);
    const toSend = standing
      ? settleConditional(job, turn, standing, context, outcomes)
      : withoutFilledFields(job, turn, current, context.connector, outcomes);
    unchanged.push(...[...turn.keys()].filter((slot) => outcomes.get(slot)?.kind === 'applied'));
    noteUnsettled(job, turn.keys(), unsettled, outcomes);
    if (job.allOrNone) keepAllBack(records, toSend, outcomes);
    await sendTurn(job, toSend, context, unsettled, outcomes);
    left = new Map([...left].filter(([slot]) => !turn.has(slot) && !outcomes.has(slot)));
  }
  const judged = judge(records.map((_, slot) => outcomes.get(slot) ?? notAnswered()));
  return isOneCall(job, context.connector) ? shareFate(judged, unchanged) : judged;
}

/** Done yet perhaps, or done by a repetition: nothing that must stand after it may go before it. An upsert that clashed is sent again. */
function mayComeLater({ kind }: WriteJob, outcome: RecordOutcome): boolean {
  if (outcome.kind !== 'notApplied') return outcome.kind === 'unknown';
  const { retryable, category } = outcome.failure;
  return retryable || (kind === 'upsert' && category === 'conflict');
}

/** Records of which an earlier change may still come, from a call before or by a repetition. */
interface Unsettled {
  slots: Set<number>;
  idAt: IdAt;
}

async function sendTurn(
  job: WriteJob,
  toSend: ReadonlyMap<number, PlannedRecord>,
  context: WriteContext,
  unsettled: Unsettled,
  outcomes: Map<number, RecordOutcome>,
): Promise<void> {
  for (const planned of callsOf(job, toSend, context.connector, unsettled.idAt)) {
    const slots = slotsDue(planned.slots, unsettled, outcomes);
    if (slots.length === 0) continue;
    const call = callOf(job, [...recordsAt(slots, toSend).values()]);
    const first = await sendCall(call, context);
    const judged = await narrowDown(call, first, (part) => sendCall(part, context));
    slots.forEach((slot, i) => outcomes.set(slot, finish(job, call, i, judged[i], context)));
    noteUnsettled(job, slots, unsettled, outcomes);
  }
}

function noteUnsettled(
  job: WriteJob,
  slots: Iterable<number>,
  unsettled: Unsettled,
  outcomes: ReadonlyMap<number, RecordOutcome>,
): void {
  for (const slot of slots) {
    const outcome = outcomes.get(slot);
    if (outcome && mayComeLater(job, outcome)) unsettled.slots.add(slot);
  }
}

/** Keeps back changes of records whose earlier change is unsettled: they wait for it. */
function slotsDue(
  slots: readonly number[],
  { slots: unsettled, idAt }: Unsettled,
  outcomes: Map<number, RecordOutcome>,
): number[] {
  const ids = new Set([...unsettled].map(idAt));
  const waits = (slot: number): boolean => idAt(slot) !== undefined && ids.has(idAt(slot));
  for (const slot of slots.filter(waits)) outcomes.set(slot, { kind: 'notApplied', failure: keptBack });
  return slots.filter((slot) => !waits(slot));
}

/** Takes out the records that cannot be sent at all; of all or none, one takes all out. */
export function sift(
  job: WriteJob,
  records: readonly PlannedRecord[],
  connector: Connector,
  description?: ObjectDescription,
): { allowed: Map<number, PlannedRecord>; refused: Map<number, Failure> } {
  const refused = new Map<number, Failure>();
  records.forEach((record, slot) => {
    const refusal =
      connector.write?.refusal(callOf(job, [record])) ?? faultOfLook(job, record, connector, description);
    if (refusal) refused.set(slot, refusal);
  });
  const [first] = refused.values();
  if (first && job.allOrNone) records.forEach((_, slot) => refused.set(slot, refused.get(slot) ?? first));
  const allowed = new Map([...records.entries()].filter(([slot]) => !refused.has(slot)));
  return { allowed, refused };
}

/** Why a record cannot be looked at before it is written. What an upsert must know of a record matters only where that stands. */
function faultOfLook(
  { upsertBy = '' }: WriteJob,
  { ifEmpty = [], onUpdate, key = '' }: PlannedRecord,
  connector: Connector,
  description: ObjectDescription | undefined,
): Failure | undefined {
  if (onUpdate) return connector.resolve?.faultOfValue?.(upsertBy, key, description);
  return ifEmpty.map((name) => connector.faultOfField?.(name)).find((failure) => failure !== undefined);
}

/** A provider call, and the records it is for. */
interface PlannedCall {
  slots: number[];
  call: WriteCall;
}

/** The provider calls for records of a job, in order; what a dry run shows is what is sent. */
export function callsOf(
  job: WriteJob,
  toSend: ReadonlyMap<number, PlannedRecord>,
  connector: Connector,
  idAt = idsOf(toSend, connector),
): PlannedCall[] {
  const all = [...toSend.keys()];
  const weightAt = (slot: number): number => weightOf(toSend.get(slot) as PlannedRecord);
  const isLight = all.length === 1 || isOneCall(job, connector);
  const groups = splitCalls(all, idAt, connector.batchLimit ?? 1, isLight ? () => 0 : weightAt);
  return groups.map((slots) => ({ slots, call: callOf(job, [...recordsAt(slots, toSend).values()]) }));
}

type IdAt = (slot: number) => string | undefined;

/** The ids of records in their one form, or by what upserts name them: what stands twice in a request may stand there in two. */
export function idsOf(records: ReadonlyMap<number, PlannedRecord>, connector: Connector): IdAt {
  return (slot) => {
    const { id, key } = records.get(slot) ?? {};
    if (key !== undefined) return keyAsId(key);
    return id === undefined ? undefined : (connector.canonicalId?.(id) ?? id);
  };
}

/** The same behind what is known of ids and values that lead to one record, which a look may add to. */
function afterMerges(idAt: IdAt, merged: ReadonlyMap<string, string>): IdAt {
  return (slot) => {
    const id = idAt(slot);
    return id === undefined ? undefined : (merged.get(id) ?? id);
  };
}

function firstTurn(records: ReadonlyMap<number, PlannedRecord>, idAt: IdAt): Map<number, PlannedRecord> {
  return turnsOf(records, idAt)[0] ?? new Map<number, PlannedRecord>();
}

/** Of all or none, no record stands in the batch twice: not by one id, which is refused before, nor by two that lead to it. */
function refuseTwice(
  records: ReadonlyMap<number, PlannedRecord>,
  idAt: IdAt,
  outcomes: Map<number, RecordOutcome>,
): void {
  const seen = new Set<string>();
  for (const slot of records.keys()) {
    const id = idAt(slot);
    if (id === undefined) continue;
    if (seen.has(id)) outcomes.set(slot, { kind: 'notApplied', failure: standsTwice });
    seen.add(id);
  }
}

function recordsAt(
  slots: readonly number[],
  of: ReadonlyMap<number, PlannedRecord>,
): Map<number, PlannedRecord> {
  return new Map(slots.map((slot) => [slot, of.get(slot) as PlannedRecord]));
}

function callOf(job: WriteJob, records: readonly PlannedRecord[]): WriteCall {
  return {
    ...job,
    records: records.map(({ id, key, fields, associations }) => ({
      fields,
      ...(id === undefined ? {} : { id }),
      ...(key === undefined ? {} : { key }),
      ...(associations ? { associations } : {}),
    })),
  };
}

/** Groups slots into calls of at most `limit` and {@link mostWeight}; an id that stands twice goes into a later call, in order. */
export function splitCalls(
  slots: readonly number[],
  idOf: IdAt,
  limit: number,
  weightAt: (slot: number) => number = () => 0,
): number[][] {
  const calls: { slots: number[]; weight: number }[] = [];
  const lastOf = new Map<string, number>();
  for (const slot of slots) {
    const id = idOf(slot);
    const from = id === undefined ? 0 : (lastOf.get(id) ?? -1) + 1;
    const weight = weightAt(slot);
    const hasRoom = (call: { slots: number[]; weight: number }): boolean =>
      call.slots.length < limit && call.weight + weight <= mostWeight;
    const found = calls.findIndex((call, index) => index >= from && hasRoom(call));
    const at = found < 0 ? calls.push({ slots: [], weight: 0 }) - 1 : found;
    const call = calls[at];
    call?.slots.push(slot);
    if (call) call.weight += weight;
    if (id !== undefined) lastOf.set(id, at);
  }
  return calls.map((call) => call.slots);
}

async function sendCall(call: WriteCall, context: WriteContext): Promise<CallResult> {
  const ability = context.connector.write;
  const all = (outcome: RecordOutcome): CallResult => ({ outcomes: call.records.map(() => outcome) });
  if (!ability) return all({ kind: 'notApplied', failure: unsupported });
  const refusal = ability.refusal(call) ?? (context.mayStillSend() ? undefined : withheld);
  if (refusal) return all({ kind: 'notApplied', failure: refusal });
  const result = await sendOrExplain(context, ability.build(call), () => context.mayStillSend());
  if ('answer' in result)
    return { outcomes: ability.judge(call, result.answer), status: result.answer.status };
  if ('failure' in result) return all({ kind: 'notApplied', failure: result.failure });
  const { failure, applied } = failureOfTransport(result.fault, call.kind !== 'create');
  return all({ kind: applied === 'no' ? 'notApplied' : 'unknown', failure });
}

function finish(
  job: WriteJob,
  call: WriteCall,
  i: number,
  outcome: RecordOutcome | undefined,
  context: WriteContext,
): RecordOutcome {
  if (!outcome) return notAnswered();
  const record = call.records[i];
  if (
    outcome.kind === 'notApplied' &&
    job.kind === 'delete' &&
    outcome.failure.category === 'notFound' &&
    context.isRepeat
  ) {
    return { kind: 'applied', ...(record?.id === undefined ? {} : { recordId: record.id }) };
  }
  if (outcome.kind !== 'applied' || job.kind === 'delete' || outcome.data) return outcome;
  const recordId = outcome.recordId ?? record?.id;
  // Salesforce echoes nothing: the record as written stands for it, without another call.
  const { created } = outcome;
  return {
    kind: 'applied',
    ...(recordId === undefined ? {} : { recordId }),
    ...(created === undefined ? {} : { created }),
    data: { id: recordId, ...record?.fields },
  };
}

const unsupported: Failure = {
  category: 'internal',
  retryable: false,
  message: 'the provider has no write ability',
};
const standsTwice: Failure = {
  category: 'validation',
  retryable: false,
  message: 'another record of the batch leads to the same one, and allOrNone allows no record twice',
};
const keptBack: Failure = {
  category: 'conflict',
  retryable: true,
  message: 'not sent: an earlier change of the same record in this request did not go through',
};

function notAnswered(): RecordOutcome {
  return { kind: 'unknown', failure: unknownOutcome('the answer does not mention it', false) };
}
