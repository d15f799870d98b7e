import { timeOf } from '../kit/ids.ts';
import type { Failure, RecordOutcome } from '../providers/index.ts';

/** One record of an operation as the executor needs it; its own `reference` is echoed where outcomes are shown. */
export type RecordPayload = Record<string, unknown> & { reference?: string };

/** What is to be accepted: one operation, its records, and the work of doing it. */
export interface Intake {
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  /** The connection for reads and writes; one lane each (docs/invariants.md, 9). */
  laneId: string;
  /** Names the handler too. */
  actionType: 'write' | 'read';
  /** The object that the operation concerns. */
  resource: string;
  /** Kept as JSON and handed to the handler; `type` (create, update, delete) words the result, {@link placeOf} reads where it goes. */
  request: Record<string, unknown>;
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
  /** As it was accepted. */
  request: Record<string, unknown>;
  /** Absent while a synchronous write is in flight, if its node died, and for queued work. */
  answer?: Answer;
}

/** Where work goes, for figures and the log. */
export interface Place {
  provider?: string;
  connectionId?: string;
  groupRef?: string;
}

export function placeOf(request: Record<string, unknown>): Place {
  const names = ['provider', 'connectionId', 'groupRef'] as const;
  return Object.fromEntries(
    names.flatMap((name) => (typeof request[name] === 'string' ? [[name, request[name]]] : [])),
  );
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
export interface WorkItem {
  projectId: string;
  operationId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  laneId: string;
  actionType: string;
  resource: string;
  request: Record<string, unknown>;
  records: readonly { index: number; payload: RecordPayload }[];
  /** The number of this attempt, from 1. */
  attempt: number;
  /**
   * Not later than the acceptance, in milliseconds since the epoch by the clock of this process: the earlier of what the
   * database's clock and the id tell. Either clock may have been off; what is ours must not look as if it stood there before.
   */
  acceptedAt: number;
  /** Milliseconds until the deadline, by the database's clock, when the item was taken. */
  remainingMs: number;
  /** Records of the operation in all, also those that are done. */
  total: number;
  /** What earlier attempts came to. */
  tally: Tally;
  /** How the attempt before ended for those of its records that may be tried again, by index. */
  earlier: ReadonlyMap<number, Failure>;
  /** Of the ledger: the work row and the fence of its attempt. */
  seq: string;
  lease: string;
}

/** How the other side behaved: it answered something, or it was called and not heard of. */
export type Heard = 'answer' | 'silence';

/**
 * What a handler says of one item. The outcomes stand in the order of the item's records. `heard` is missing when nobody was
 * called.
 */
export type ItemResult = { heard?: Heard | undefined } & Ending;

type Ending =
  | { kind: 'outcomes'; outcomes: readonly RecordOutcome[] }
  /** Nothing was sent; the item waits, and no attempt is counted. */
  | { kind: 'postponed'; inMs: number }
  /** Nothing was sent; the whole lane waits, and no attempt is counted. */
  | { kind: 'throttled'; inMs: number };

export interface WorkContext {
  /** Monotonic (`performance.now()`), moved ahead while the lease is renewed. */
  readonly leaseEndsAt: number;
  /** To be asked right before the first byte: false once the lease may have ended (docs/invariants.md, 14). */
  mayStillSend(): boolean;
  /** Aborted when the lease was lost or the process must end. */
  readonly signal: AbortSignal;
}

/** Does the work of one kind. Never throws for what the provider does; what it throws counts as an unknown outcome. */
export interface WorkHandler {
  execute(items: readonly WorkItem[], context: WorkContext): Promise<ItemResult[]>;
  /**
   * Finds out what became of items whose attempt was cut off by the death of its node; without it they stay unknown. Sends
   * nothing: what may be sent again is so in its outcomes, and the next attempt does it.
   */
  resolveUnknown?(items: readonly WorkItem[], context: WorkContext): Promise<ItemResult[]>;
}

/** A lane in the hands of this process. `wakes` is its counter as last read: give-back compares it. */
export interface HeldLane {
  projectId: string;
  id: string;
  lease: string;
  wakes: string;
  kind: string;
  /** Whether it has an open auto-batch. */
  gathers: boolean;
}

/** An item as taken: past its deadline, it is only to be failed. */
export interface TakenItem extends WorkItem {
  expired: boolean;
  /** Bytes of its payloads, when it is large and came without them; then `records` is empty as yet. */
  unreadBytes: number;
}

/** See {@link WorkItem.acceptedAt}; `byDatabase` is the acceptance as the database's clock tells it. */
export function earliestAcceptance(operationId: string, byDatabase: number): number {
  return Math.floor(Math.min(byDatabase, timeOf(operationId)));
}
