import type { Ground } from '../kit/index.ts';
import type { BulkJob } from './bulk/job.ts';
import { makeId } from './ids.ts';
import type { Quota } from './quota.ts';
import type { Schema, SObject } from './schema/object-types.ts';
import type { Plan } from './soql/compiled.ts';
import type { DuplicateRule } from './store/duplicates.ts';
import type { Row, Store, Transaction } from './store/store.ts';
import type { LockRule } from './store/write.ts';

/** What tests may set through `POST /__sim/settings`. */
export type Settings = {
  /** Sliding life of an access token, ms. */
  sessionTimeoutMs: number;
  /** New refresh token at each refresh, for apps that do not say themselves. */
  rotation: boolean;
  duplicateRules: DuplicateRule[];
  /** Writes that meet UNABLE_TO_LOCK_ROW. */
  locks: LockRule[];
  /** How many reads of a bulk job still find it in progress. */
  bulkPolls: number;
  /** Life of a query locator, ms. */
  queryLocatorMs: number;
  /** Most open query locators; the oldest goes first. */
  queryLocators: number;
  /** Bulk jobs that fail when they would be complete: the next `times` of a kind and object. */
  bulkFailures: BulkFailure[];
  /** Life of a bulk job and its results, ms; after that there is no such job. */
  bulkLifeMs: number;
  /** Rows in one page of bulk query results when the caller names no number. */
  bulkResultPage: number;
  /** Objects whose records only their owners see. Unique fields hold among all records. */
  privateObjects: string[];
};

export type BulkFailure = { kind?: BulkJob['kind']; object?: string; times: number; message?: string };

/** A transaction that has begun and is not committed: its stamps are those of its beginning. */
export type OpenTransaction = { dueAt: number; tx: Transaction };

/** A query result that is read page by page. */
export type Cursor = { plan: Plan; rows: Row[]; batch: number; expiresAt: number };

/** Everything one simulated org knows. */
export type Org = {
  ground: Ground;
  id: string;
  createdAt: number;
  schema: Schema;
  store: Store;
  settings: Settings;
  quota: Quota;
  cursors: Map<string, Cursor>;
  jobs: Map<string, BulkJob>;
  open: OpenTransaction[];
  counters: Map<string, number>;
  /** Records lately read or written by id, newest last; `/recent` shows them. */
  recent: Map<string, SObject>;
};

/** The next id of things that are not records: jobs (750) and query locators (01g). */
export function nextThingId(org: Org, prefix: '750' | '01g'): string {
  const n = (org.counters.get(prefix) ?? 0) + 1;
  org.counters.set(prefix, n);
  return makeId(prefix, n, org.store.pod);
}

const recentLimit = 200;

/** Remembers a record as recently used. */
export function touchRecent(org: Org, object: SObject, id: string): void {
  org.recent.delete(id);
  org.recent.set(id, object);
  if (org.recent.size <= recentLimit) return;
  for (const oldest of org.recent.keys()) {
    org.recent.delete(oldest);
    return;
  }
}
