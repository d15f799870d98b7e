import type { Queryable } from '../kit/db/database.ts';
import type { Gathering, LaneKey } from './store/lanes.ts';

/** A work row in the hands of this process: its attempt is committed as started, under the lease of its lane. */
export interface Marked {
  projectId: string;
  seq: string;
  laneId: string;
  /** The lane is, or was, a node's own: what stands there is never started from a lane. */
  isOfNode: boolean;
  lease: string;
  /** Names this marking of the row under the lease; null where there is only one. */
  mark: string | null;
  kind: string;
  /** What the kind knows it by. */
  ref: string;
  /** The number of this attempt, from 1. */
  attempt: number;
  /** Milliseconds until the deadline, by the database's clock, when it was taken. */
  remainingMs: number;
  /** Past its deadline: it was not marked, and is only to be ended. */
  expired: boolean;
  /** It was being sent when its lane was lost: nobody knows the end of this attempt. */
  isLost?: boolean;
  /** The trace of who queued it, where it is traced. */
  trace?: string | null | undefined;
}

/** What the lanes must know of the end of an attempt; a kind adds what it records. */
export interface End {
  projectId: string;
  seq: string;
  lease: string;
  /** Of the marking that it ends: the row may be marked again under the same lease. */
  mark: string | null;
  /** Otherwise it goes back into its lane: a next attempt, or the next part of work that comes in parts. */
  done: boolean;
  /** Until it is due again, in milliseconds. */
  waitMs: number;
  /** Whether the attempt counts. */
  spent: boolean;
}

/** How the other side behaved: it answered something, or it was called and not heard of. */
export type Heard = 'answer' | 'silence';

/** What a kind says of an attempt. */
export interface Ran<Ended extends End> {
  end: Ended;
  /** Missing when nobody was called. */
  heard?: Heard | undefined;
  /** Nothing else of the lane may start for so long. */
  laneWaitsMs?: number | undefined;
}

export interface WorkContext {
  /** Monotonic (`performance.now()`), moved ahead while the lease is renewed. */
  readonly leaseEndsAt: number;
  /** To be asked right before the first byte: false once the lease may have ended. */
  mayStillSend(): boolean;
  /** Aborted when the lease was lost or the process must end. */
  readonly signal: AbortSignal;
}

/** One sort of work: how a room does what it queued. */
export interface Kind<Item extends Marked, Ended extends End> {
  /** As it stands in the work rows. */
  name: string;
  /** What the room keeps of the rows, in any order; one statement for the group. One that is left out goes back, and is told of. */
  load(db: Queryable, marked: readonly Marked[]): Promise<Item[]>;
  /** For items that may come without their large part: its size, and the reading of it once there is room. */
  large?: {
    bytesOf(item: Item): number;
    read(db: Queryable, item: Item): Promise<Item>;
  };
  /** One attempt. What it throws leaves the item marked, so that it is rescued. */
  run(item: Item, context: WorkContext): Promise<Ran<Ended>>;
  /** What was started elsewhere, and whose end nobody recorded: it may start again, or the kind finds out. */
  rescued: 'again' | ((item: Item, context: WorkContext) => Promise<Ran<Ended>>);
  /** The end of an attempt that did not begin: it does not count. */
  unsent(item: Item, waitMs: number): Ended;
  /** In one statement, built upon `recordParts`; for each, in order, whether its fence held. */
  record(db: Queryable, ends: readonly Ended[]): Promise<boolean[]>;
  /** After the commit of what was recorded. */
  recorded?(ends: readonly Ended[]): void;
  /** The same end with less in it, for a database that refuses a value of it; undefined: nothing can be left out. */
  less?(end: Ended): Ended | undefined;
  /** For the log. */
  about(of: Item | Ended): Record<string, unknown>;
  gathers?: Gathers;
}

/** Things that gather beside the lane and become work at their time, or when they are complete. */
export interface Gathers {
  statements: Gathering;
  /** Where they stand: small tables that are written often, to be vacuumed with those of the lanes. */
  tables: readonly string[];
  /** Makes work of what is ready in these lanes; answers with the lanes, once for each item. */
  prepare(db: Queryable, lanes: readonly LaneKey[]): Promise<string[]>;
}
