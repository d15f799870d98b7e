import { timeOf } from '../kit/ids.ts';
import type { Marked } from '../lanes/index.ts';
import type { Failure } from '../providers/index.ts';

/** One record of an operation as its action keeps it; its own `reference` is echoed where outcomes are shown. */
export type RecordPayload = Record<string, unknown> & { reference?: string };

/** What is to be accepted: one operation, its records, and the work of doing it. */
export interface Intake {
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  /** The connection for reads and writes; one lane each (docs/invariants.md, 9). */
  laneId: string;
  /** Names the kind of its work, too. */
  actionType: 'write' | 'read';
  /** The object that the operation concerns. */
  resource: string;
  /** Kept as JSON for the action, which reads it; {@link placeOf} takes from it where it goes. */
  request: Record<string, unknown>;
  /** Kept as a member of `request`. By itself here: writes that are accepted together differ by it only. */
  requestId?: string;
  records: readonly RecordPayload[];
  /** Attempts may start until this many seconds from now. */
  deadlineSeconds: number;
  /** 0 interactive, 1 write, 2 read, 3 backfill: within a lane the lower one goes first. */
  prio?: 0 | 1 | 2 | 3;
  /** One for each record: those with the same key are done one after the other, in the order of acceptance. */
  orderKeys?: readonly (string | null)[] | null;
  /** The first attempt starts no earlier than this many seconds from now. */
  dueInSeconds?: number;
  /** Nothing is accepted when this key stands for something already. */
  key?: KeyClaim | undefined;
  /** Whether another node sends it again that does not see how an attempt of it ended. */
  mayRepeat?: true;
}

/** A caller's `Idempotency-Key`, kept with the operation for 7 days. */
export interface KeyClaim {
  /** Whose key it is: the same text means another thing from another caller. */
  principal: string;
  key: string;
  /** Of the request that it stands for. */
  hash: Buffer;
  /** Kept without an end. */
  forever?: true;
}

/** How a synchronous write was answered. */
export interface Answer {
  status: number;
  body: unknown;
}

/** What a key stands for. */
export interface EarlierUse {
  operationId: string;
  /** Whether the operation has ended. */
  ended: boolean;
  /** Of which it was recorded what they came to. */
  attempts: number;
  /** As it was accepted. */
  request: Record<string, unknown>;
  /** Absent while a synchronous write is in flight, if its node died, for queued work, and where it was resolved since. */
  answer?: Answer;
}

/** Where work goes, and by which request it came, for figures and the log. */
export interface Place {
  provider?: string;
  connectionId?: string;
  groupRef?: string;
  requestId?: string;
}

const placeNames = ['provider', 'connectionId', 'groupRef', 'requestId'] as const;

export function placeOf(request: Record<string, unknown>): Place {
  const place: Place = {};
  for (const name of placeNames) {
    const value = request[name];
    if (typeof value === 'string') place[name] = value;
  }
  return place;
}

/** What the records of an operation came to so far. */
export interface Tally {
  succeeded: number;
  failed: number;
  unknown: number;
  errors: OperationError[];
}

/** A failure of an operation; `index` is the record's place in the request. */
export interface OperationError extends Failure {
  index: number;
}

/** An operation's work in the hands of a worker: the records that have no outcome yet. */
export interface WorkItem extends Marked {
  operationId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  actionType: string;
  resource: string;
  request: Record<string, unknown>;
  records: readonly { index: number; payload: RecordPayload }[];
  /**
   * Not later than the acceptance, in milliseconds since the epoch by the clock of this process: the earlier of what the
   * database's clock and the id tell. Either clock may have been off; what is ours must not look as if it stood there before.
   */
  acceptedAt: number;
  /** Records of the operation in all, also those that are done. */
  total: number;
  /** What earlier attempts came to. */
  tally: Tally;
  /** How the attempt before ended for those of its records that may be tried again, by index; of `records` only. */
  earlier: ReadonlyMap<number, Failure>;
  /** Milliseconds since it ended, by the database's clock, when the item was loaded; 0 when there was none. */
  sinceEarlierMs: number;
  /** Bytes of its payloads, when it is large and came without them; then `records` and `earlier` are empty as yet. */
  unreadBytes: number;
}

/** See {@link WorkItem.acceptedAt}; `byDatabase` is the acceptance as the database's clock tells it. */
export function earliestAcceptance(operationId: string, byDatabase: number): number {
  return Math.floor(Math.min(byDatabase, timeOf(operationId)));
}
