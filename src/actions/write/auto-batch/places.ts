import { hash } from 'node:crypto';
import { newId } from '../../../kit/ids.ts';
import type { Intake, RecordPayload } from '../../../operations/index.ts';

/** A single record to be gathered with others that have the same lane, installation, object and request. */
export interface AutoBatchIntake extends Omit<Intake, 'records' | 'orderKeys' | 'dueInSeconds'> {
  record: RecordPayload;
  orderKey: string | null;
  /** How long a batch that it opens gathers; `deadlineSeconds` counts from when that batch leaves. */
  maxDelaySeconds: number;
}

/** A record on its way into a batch. */
export interface Entry extends AutoBatchIntake {
  id: string;
  /** What the records of its batch share; `key` is the caller's idempotency key. */
  batchKey: string;
  payload: string;
}

/** The places that a group wants of one key. `first` describes the batch if it must be opened. */
export interface PlaceRequest {
  batchKey: string;
  first: Entry;
  entries: Entry[];
  /** Whether a place of this key was missed: the batch that the head names may be gone. */
  missed: boolean;
  /** A group (`createIntakeCommit`) has no more entries than two batches hold. */
  spareIds: [string, string];
}

/** Places that were handed out to request `n` (from 1): `places` of a batch from `firstSlot` on. */
export interface Range {
  n: number;
  batchId: string;
  firstSlot: number;
  places: number;
}

export interface Place {
  entry: Entry;
  batchId: string;
  slot: number;
}

/** Names what the records of one batch share. Everything that a provider call is made of is in the request. */
export function batchKeyOf({
  installationId,
  laneId,
  actionType,
  resource,
  request,
}: AutoBatchIntake): string {
  const text = JSON.stringify([installationId, laneId, actionType, resource, request]);
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** What a group asks for, sorted as the heads are locked; entries of a key stay in the order of their arrival. */
export function requestsOf(entries: readonly Entry[], missed: boolean): PlaceRequest[] {
  const groups = Map.groupBy(entries, (entry) => `${entry.projectId} ${entry.batchKey}`);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [first, ...others]]) => {
      if (!first) throw new Error('a group has entries');
      const { batchKey } = first;
      return { batchKey, first, entries: [first, ...others], missed, spareIds: [newId(), newId()] };
    });
}

/** Gives the entries of each request the places that it got, in order. */
export function placesOf(requests: readonly PlaceRequest[], ranges: readonly Range[]): Place[] {
  const left = requests.map((request) => [...request.entries]);
  return ranges.flatMap(({ n, batchId, firstSlot, places }) =>
    (left[n - 1] ?? []).splice(0, places).map((entry, i) => ({ entry, batchId, slot: firstSlot + i })),
  );
}
