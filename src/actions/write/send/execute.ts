import {
  failureOfTransport,
  unknownOutcome,
  withheld,
  type Connector,
  type CurrentFieldsAbility,
  type Failure,
  type ObjectDescription,
  type RecordOutcome,
  type WriteCall,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import { narrowDown, type CallResult } from './bisect.ts';
import { refusalOf } from './by-fields.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { foldedKey } from '../prepare/upsert.ts';
import { mostWeight, weightOf } from './weight.ts';
import type { WriteContext, WriteJob } from './job.ts';
import { isOneCall, keepAllBack, shareFate } from './one-call.ts';
import { describedFor, settleConditional } from './look-up.ts';
import { readCurrent, type Current } from './read-current.ts';
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
  const idAt = idsOf(allowed, context.connector);
  const unsettled: Unsettled = { ids: new Set(), idAt };
  const unchanged: number[] = [];
  for (const turn of turnsOf(allowed, idAt)) {
    const due = recordsAt(slotsDue([...turn.keys()], unsettled, outcomes), turn);
    const toSend =
      job.kind === 'upsert'
        ? await settleConditional(job, due, described, context, outcomes)
        : await withoutFilledFields(job, due, context, outcomes);
    unchanged.push(...[...due.keys()].filter((slot) => outcomes.get(slot)?.kind === 'applied'));
    noteUnsettled(job, due.keys(), unsettled, outcomes);
    if (job.allOrNone) keepAllBack(records, toSend, outcomes);
    await sendTurn(job, toSend, context, unsettled, outcomes);
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
  ids: Set<string>;
  idAt: IdAt;
}

async function sendTurn(
  job: WriteJob,
  toSend: ReadonlyMap<number, PlannedRecord>,
  context: WriteContext,
  unsettled: Unsettled,
  outcomes: Map<number, RecordOutcome>,
): Promise<void> {
  for (const planned of callsOf(job, toSend, context.connector)) {
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
  { ids, idAt }: Unsettled,
  outcomes: ReadonlyMap<number, RecordOutcome>,
): void {
  for (const slot of slots) {
    const [id, outcome] = [idAt(slot), outcomes.get(slot)];
    if (id !== undefined && outcome && mayComeLater(job, outcome)) ids.add(id);
  }
}

/** Keeps back changes of records whose earlier change is unsettled: they wait for it. */
function slotsDue(
  slots: readonly number[],
  { ids, idAt }: Unsettled,
  outcomes: Map<number, RecordOutcome>,
): number[] {
  const waits = (slot: number): boolean => ids.has(idAt(slot) ?? '');
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
): PlannedCall[] {
  const all = [...toSend.keys()];
  const weightAt = (slot: number): number => weightOf(toSend.get(slot) as PlannedRecord);
  const isLight = all.length === 1 || isOneCall(job, connector);
  const groups = splitCalls(
    all,
    idsOf(toSend, connector),
    connector.batchLimit ?? 1,
    isLight ? () => 0 : weightAt,
  );
  return groups.map((slots) => ({ slots, call: callOf(job, [...recordsAt(slots, toSend).values()]) }));
}

type IdAt = (slot: number) => string | undefined;

/** The ids of records in their one form, or by what upserts name them: what stands twice in a request may stand there in two. */
export function idsOf(records: ReadonlyMap<number, PlannedRecord>, connector: Connector): IdAt {
  return (slot) => {
    const { id, key } = records.get(slot) ?? {};
    if (key !== undefined) return foldedKey(key);
    return id === undefined ? undefined : (connector.canonicalId?.(id) ?? id);
  };
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

/** The read that comes before the writes of records with `ifEmpty` fields; undefined where there are none. */
export function readBefore(
  records: Iterable<PlannedRecord>,
  { currentFields: ability }: Connector,
): { ability: CurrentFieldsAbility; ids: string[]; fields: string[] } | undefined {
  const conditional = [...records].filter(isConditional);
  if (conditional.length === 0 || !ability) return undefined;
  return {
    ability,
    ids: [...new Set(conditional.map(({ id }) => id ?? ''))],
    fields: [...new Set(conditional.flatMap(({ ifEmpty }) => ifEmpty ?? []))],
  };
}

function isConditional({ ifEmpty = [] }: PlannedRecord): boolean {
  return ifEmpty.length > 0;
}

/** Reads what the `ifEmpty` fields hold now and leaves out those that hold something. */
async function withoutFilledFields(
  job: WriteJob,
  allowed: ReadonlyMap<number, PlannedRecord>,
  context: WriteContext,
  outcomes: Map<number, RecordOutcome>,
): Promise<Map<number, PlannedRecord>> {
  const toSend = new Map(allowed);
  const read = readBefore(allowed.values(), context.connector);
  if (read) {
    const current = await readCurrent(read.ability, job.objectName, read.ids, read.fields, context);
    for (const [slot, record] of [...toSend].filter(([, one]) => isConditional(one))) {
      const outcome = applyCurrent(read.ability, record, current, (left) => toSend.set(slot, left));
      if (!outcome) continue;
      outcomes.set(slot, outcome);
      toSend.delete(slot);
    }
  }
  for (const slot of emptyUpdates(job, toSend)) {
    const id = toSend.get(slot)?.id;
    if (id !== undefined) outcomes.set(slot, { kind: 'applied', recordId: id, data: { id } });
    toSend.delete(slot);
  }
  return toSend;
}

function applyCurrent(
  ability: CurrentFieldsAbility,
  record: PlannedRecord,
  current: Current,
  keep: (left: PlannedRecord) => void,
): RecordOutcome | undefined {
  if ('failure' in current) return { kind: 'notApplied', failure: current.failure };
  const refused = refusalOf(record.ifEmpty, current);
  if (refused) return { kind: 'notApplied', failure: refused };
  const values = current.found.get(record.id ?? '');
  if (!values) {
    return {
      kind: 'notApplied',
      failure: { category: 'notFound', retryable: false, message: `there is no record ${record.id}` },
    };
  }
  const filled = new Set((record.ifEmpty ?? []).filter((name) => !ability.isEmpty(values[name])));
  keep({
    ...record,
    fields: Object.fromEntries(Object.entries(record.fields).filter(([name]) => !filled.has(name))),
  });
  return undefined;
}

/** Updates that have nothing left to write: they succeed without a call. */
export function emptyUpdates(job: WriteJob, toSend: ReadonlyMap<number, PlannedRecord>): number[] {
  if (job.kind !== 'update') return [];
  return [...toSend]
    .filter(([, { id, fields }]) => id !== undefined && Object.keys(fields).length === 0)
    .map(([slot]) => slot);
}

const unsupported: Failure = {
  category: 'internal',
  retryable: false,
  message: 'the provider has no write ability',
};
const keptBack: Failure = {
  category: 'conflict',
  retryable: true,
  message: 'not sent: an earlier change of the same record in this request did not go through',
};

function notAnswered(): RecordOutcome {
  return { kind: 'unknown', failure: unknownOutcome('the answer does not mention it', false) };
}
