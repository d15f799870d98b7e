import { record } from '../events/index.ts';
import type { Database } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { problem, refuse, type Issue, type Problem } from '../kit/problem.ts';
import { presentRecord } from './present.ts';
import type { Operation, OperationRecord, Resolution, ResolveRequest } from './schema.ts';
import type { LogEntry, StoredOutcome } from './settlement.ts';
import * as reading from './store/read.ts';
import * as store from './store/written.ts';

/** What is known of a record before it is resolved. */
export type Known = Pick<store.WrittenRow, 'slot' | 'outcome' | 'resolution'>;

/**
 * What is to be recorded, or the refusal. A record that was resolved the same way before stays as it is; without
 * `records` the request concerns all that are not resolved yet. Pure.
 */
export function planResolution(
  request: ResolveRequest,
  records: readonly Known[],
): { resolutions: Resolution[] } | { refusal: Problem } {
  const shape = shapeIssues(request, records);
  if (shape.length > 0) return { refusal: refuse(shape) };
  const { resolution, recordId } = request;
  if (resolution === undefined) return planNamed(request.records ?? [], records);
  const open = records.filter(isUnresolved);
  if (open.length === 0 && !records.some((one) => one.resolution?.resolution === resolution)) {
    return {
      refusal: problem('outcome-known', { detail: 'No record of the operation is of unknown outcome.' }),
    };
  }
  if (recordId !== undefined && open.length > 1) {
    const detail = `is the id of one record; ${open.length} are of unknown outcome: use \`records\``;
    return { refusal: refuse([{ in: 'body', name: 'recordId', detail }]) };
  }
  const given = recordId === undefined ? { resolution } : { resolution, recordId };
  return { resolutions: open.map(({ slot }) => Object.assign({ index: slot }, given)) };
}

/** What became of a record, as its attempt ended or as somebody said since. Pure. */
export function outcomeNow({ outcome, resolution }: Known): StoredOutcome | null {
  if (!resolution) return outcome;
  const { recordId, by } = resolution;
  if (resolution.resolution === 'applied')
    return { kind: 'applied', ...(recordId === undefined ? {} : { recordId }) };
  const message = `its outcome was unknown, and nothing was written: ${by} resolved it as notApplied`;
  return { kind: 'notApplied', failure: { category: 'providerDown', retryable: true, message } };
}

/** Nobody knows what became of it, and nobody has said. */
export function isUnresolved(known: Known): boolean {
  return outcomeNow(known)?.kind === 'unknown';
}

/** Known not to be done. */
export function isNotDone(known: Known): boolean {
  return outcomeNow(known)?.kind === 'notApplied';
}

function planNamed(
  named: readonly Resolution[],
  records: readonly Known[],
): { resolutions: Resolution[] } | { refusal: Problem } {
  const bySlot = new Map(records.map((one) => [one.slot, one]));
  const known = named.flatMap(({ index, resolution }, at): Issue[] => {
    const one = bySlot.get(index);
    const said = one?.resolution?.resolution;
    if (one?.outcome?.kind === 'unknown' && (said === undefined || said === resolution)) return [];
    const detail = said
      ? `record ${index} was resolved as ${said}`
      : `the outcome of record ${index} is known: ${one?.outcome?.kind}`;
    return [{ in: 'body', name: `records[${at}].index`, detail }];
  });
  if (known.length > 0) return { refusal: refuse(known, 'outcome-known') };
  return {
    resolutions: named.filter(({ index }) => bySlot.get(index)?.resolution === null),
  };
}

function shapeIssues(
  { records, resolution, recordId }: ResolveRequest,
  kept: readonly Pick<Known, 'slot'>[],
): Issue[] {
  const issues: Issue[] = [];
  const add = (name: string, detail: string): void => void issues.push({ in: 'body', name, detail });
  if (records && resolution) add('resolution', 'excludes `records`: send one of the two');
  if (!records && !resolution) add('records', 'is required, unless `resolution` is sent for all records');
  if (recordId !== undefined && resolution !== 'applied') {
    add('recordId', 'belongs to `resolution: "applied"`: what was not applied has no id');
  }
  const slots = new Set(kept.map(({ slot }) => slot));
  const seen = new Set<number>();
  for (const [at, one] of (records ?? []).entries()) {
    if (!slots.has(one.index)) add(`records[${at}].index`, noSuchRecord(one.index, slots));
    if (seen.has(one.index)) add(`records[${at}].index`, `names record ${one.index} a second time`);
    seen.add(one.index);
    if (one.recordId !== undefined && one.resolution !== 'applied') {
      add(`records[${at}].recordId`, 'belongs to `resolution: "applied"`');
    }
  }
  return issues;
}

/** Of a batch that gathered, places may be empty. */
function noSuchRecord(index: number, slots: ReadonlySet<number>): string {
  if (slots.size === 0) return 'the operation has no records';
  const most = Math.max(...slots);
  const empty = Array.from({ length: most }, (_, slot) => slot).filter((slot) => !slots.has(slot));
  const but = empty.length > 0 ? `, without ${empty.join(', ')}` : '';
  return `there is no record ${index}: the operation has those from 0 to ${most}${but}`;
}

/**
 * Records what became of records of unknown outcome and answers those that the request concerns. The status of the
 * operation stays. Throws `operation-in-progress`, `outcome-known`, or the refusal of the request's shape.
 */
export async function resolveRecords(
  database: Database,
  { projectId, id: operationId, groupRef }: Pick<Operation, 'projectId' | 'id' | 'groupRef'>,
  by: string,
  request: ResolveRequest,
): Promise<OperationRecord[]> {
  const resolved = await database.transaction(async (tx) => {
    const locked = await store.lock(tx, projectId, operationId);
    if (locked?.status === 'in_progress') throw problem('operation-in-progress', { retryAfterSeconds: 5 });
    const records = await store.written(tx, projectId, operationId);
    const planned = planResolution(request, records);
    if ('refusal' in planned) throw planned.refusal;
    const { resolutions } = planned;
    const details = { groupRef, records: resolutions };
    await record(tx, { projectId, action: 'operation.resolved', targetId: operationId, details });
    if (resolutions.length > 0) {
      const log = logOf(operationId, locked?.resource ?? '', by, resolutions);
      const settled = new Set(resolutions.map(({ index }) => index));
      const isLast = records.filter(isUnresolved).every(({ slot }) => settled.has(slot));
      await store.resolve(tx, { projectId, operationId }, by, { resolutions, isLast }, log);
    }
    return new Set([...resolutions, ...(request.records ?? [])].map(({ index }) => index));
  });
  const rows = await reading.records(database, projectId, operationId, -1, 1_000);
  return rows
    .filter(({ slot, resolution }) => resolved.has(slot) || (!request.records && resolution !== null))
    .map(presentRecord);
}

function logOf(
  operationId: string,
  resource: string,
  by: string,
  resolutions: readonly Resolution[],
): LogEntry {
  const listed = (kind: Resolution['resolution']): string =>
    resolutions
      .filter(({ resolution }) => resolution === kind)
      .map(({ index }) => index)
      .join(', ');
  const [applied, notApplied] = [listed('applied'), listed('notApplied')];
  const count = resolutions.length === 1 ? '1 record' : `${resolutions.length} records`;
  return {
    id: newId(),
    severity: 'info',
    message: {
      msg: `[${resource}] ${count} of unknown outcome resolved by ${by}.`,
      operation_id: operationId,
      details: {
        object: resource,
        by,
        ...(applied ? { applied } : {}),
        ...(notApplied ? { notApplied } : {}),
      },
    },
  };
}
