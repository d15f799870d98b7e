import {
  comparable,
  idOf,
  isObject,
  keptIdOf,
  objectsOf,
  textsOf,
  unknownRecord,
  type JsonObject,
} from '../answer.ts';
import type { RecordOutcome, WriteCall, WriteRecord } from '../connector.ts';
import type { Failure } from '../failure.ts';
import { failureOfEntry } from './failure.ts';

/** Unique in its call, and the same whenever the call is built again. */
export function traceIdOf(index: number): string {
  return `r${index}`;
}

/** A record as HubSpot answers it. `data`: its properties and id, without createdAt, archived and url. An upsert tells whether it is `new`. */
export function appliedFrom(result: JsonObject): RecordOutcome | undefined {
  const recordId = keptIdOf(result['id']);
  if (recordId === undefined) return undefined;
  const properties = isObject(result['properties']) ? result['properties'] : {};
  const created = result['new'];
  return {
    kind: 'applied',
    recordId,
    data: { id: recordId, ...properties },
    ...(typeof created === 'boolean' ? { created } : {}),
  };
}

/**
 * Finds the outcome of each record of a batch. HubSpot answers in an order of its own, so an entry is matched to a record by
 * trace id, then id, then a property that only that record of the call has.
 */
export function judgeBatch(call: WriteCall, body: JsonObject, status: number): RecordOutcome[] {
  const outcomes = new Map<number, RecordOutcome>();
  const strayErrors: Failure[] = [];
  for (const entry of objectsOf(body['errors'])) {
    const failure = failureOfEntry(entry, status);
    const indexes = indexesOfError(call, entry);
    for (const index of indexes) outcomes.set(index, outcomeOfEntry(call, failure));
    if (indexes.length === 0) strayErrors.push(failure);
  }
  const strayResults = objectsOf(body['results']).filter((result) => {
    const index = indexOfResult(call, result);
    return index === undefined || !settle(call, outcomes, index, result);
  });
  const unmatched = matchByValue(call, outcomes, strayResults);
  const left = call.records.map((_record, index) => index).filter((index) => !outcomes.has(index));
  const rest = outcomeOfRest(call, left.length, unmatched, strayErrors);
  return call.records.map((_record, index) => outcomes.get(index) ?? rest);
}

const isOwnFault = ({ category }: Failure): boolean => category === 'providerDown';

/** A fault of HubSpot's own says of one record what a 500 says of a call: nothing. */
function outcomeOfEntry(call: WriteCall, failure: Failure): RecordOutcome {
  if (!isOwnFault(failure)) return { kind: 'notApplied', failure };
  return unknownRecord(call, `the provider answered with a fault of its own: ${failure.message}`, failure);
}

/** Two different outcomes for one record make it unknown. */
function settle(
  call: WriteCall,
  outcomes: Map<number, RecordOutcome>,
  index: number,
  result: JsonObject,
): boolean {
  const applied = appliedFrom(result);
  if (!applied) return false;
  const before = outcomes.get(index);
  const agrees = !before || (before.kind === 'applied' && before.recordId === idOf(result['id']));
  outcomes.set(index, agrees ? applied : unknownRecord(call, "the provider's answer says two things of it"));
  return true;
}

function indexOfTrace(call: WriteCall, trace: unknown): number | undefined {
  const index = call.records.findIndex((_record, at) => traceIdOf(at) === trace);
  return index < 0 ? undefined : index;
}

function indexOfResult(call: WriteCall, result: JsonObject): number | undefined {
  const traced = indexOfTrace(call, result['objectWriteTraceId']);
  return traced ?? (call.kind === 'update' ? indexOfId(call, idOf(result['id'])) : undefined);
}

function indexOfId(call: WriteCall, id: string | undefined): number | undefined {
  if (id === undefined) return undefined;
  const isIts = ({ id: own, key }: WriteRecord): boolean =>
    call.kind === 'upsert' ? comparable(key) === comparable(id) : own === id;
  const index = call.records.findIndex(isIts);
  return index < 0 ? undefined : index;
}

/** An error names the records it is about in its context, one or several. */
function indexesOfError(call: WriteCall, entry: JsonObject): number[] {
  const context = isObject(entry['context']) ? entry['context'] : {};
  const traces = [...textsOf(context['objectWriteTraceId']), ...textsOf(entry['objectWriteTraceId'])];
  const ids =
    call.kind === 'create'
      ? []
      : [...textsOf(context['ids']), ...textsOf(context['id']), ...textsOf(entry['id'])];
  const found = [
    ...traces.map((trace) => indexOfTrace(call, trace)),
    ...ids.map((id) => indexOfId(call, id)),
  ];
  return [...new Set(found.filter((index) => index !== undefined))];
}

/** Matches results by a property; returns those that no property identifies. */
function matchByValue(
  call: WriteCall,
  outcomes: Map<number, RecordOutcome>,
  results: readonly JsonObject[],
): JsonObject[] {
  return results.filter((result) => {
    const echoed = isObject(result['properties']) ? result['properties'] : {};
    const index = indexByValue(call, outcomes, echoed);
    return index === undefined || !settle(call, outcomes, index, result);
  });
}

function indexByValue(
  call: WriteCall,
  outcomes: ReadonlyMap<number, RecordOutcome>,
  echoed: JsonObject,
): number | undefined {
  for (const name of identifyingProperties(call)) {
    const value = comparable(echoed[name]);
    if (value === undefined) continue;
    const index = call.records.findIndex((record) => comparable(record.fields[name]) === value);
    if (index >= 0) return outcomes.has(index) ? undefined : index;
  }
  return undefined;
}

/** Properties that every record of the call has, each with a value of its own; those that HubSpot itself keeps unique first. */
function identifyingProperties(call: WriteCall): string[] {
  const names = Object.keys(call.records[0]?.fields ?? {}).filter((name) => {
    const values = call.records.map((record) => comparable(record.fields[name]));
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  });
  const rank = (name: string): number => (name === 'email' ? 0 : name === 'domain' ? 1 : 2);
  return names.sort((left, right) => rank(left) - rank(right));
}

/**
 * Outcomes of records without an entry: known where the counts leave no choice, else unknown. The result of a record that is
 * alone is its own: HubSpot echoes what it changed, which may be nothing that tells the record.
 */
function outcomeOfRest(
  call: WriteCall,
  left: number,
  results: readonly JsonObject[],
  errors: readonly Failure[],
): RecordOutcome {
  const [error] = errors;
  if (left === results.length && errors.length === 0) {
    const [own] = call.records.length === 1 ? results : [];
    return (own && appliedFrom(own)) ?? { kind: 'applied' };
  }
  if (results.length === 0 && error && left === errors.length) {
    const message = [...new Set(errors.map((one) => one.message))].join('; ');
    return outcomeOfEntry(call, { ...(errors.find(isOwnFault) ?? error), message });
  }
  return unknownRecord(call, "the provider's answer does not mention it");
}
