import { setImmediate as afterPoll } from 'node:timers/promises';
import { apart } from './db/deeds.ts';
import { problem } from './problem.ts';

/** Items in one group at the most, by what one of them costs the statement that commits it. */
export const groupSize = {
  /** A row or two: what is accepted, what has ended. */
  rows: 128,
  /** A queue of which many rows are taken or moved. */
  queues: 50,
  /** Bodies of some hundred kilobytes. */
  bodies: 8,
  /** What is large, or was refused by itself, holds up no other. */
  alone: 1,
};
/** While the database flushes one group, it works on the next one. */
const groupsAtOnce = 2;

export interface GroupCommitOptions<Item, Result> {
  /** Commits all items or none; the results stand in the order of the items. */
  commit(items: readonly Item[]): Promise<readonly Result[]>;
  /** Items in one group at the most; see {@link groupSize}. */
  maxGroup: number;
  /** Groups being committed at the same time at the most; two unless told. */
  maxInFlight?: number;
  /** Items waiting for their group at the most; more are refused as `overloaded`. Unless told, all wait. */
  maxWaiting?: number;
  /** What an item weighs in memory, and how much may wait in all; beyond it an item is refused unless none waits. */
  weigh?(item: Item): number;
  maxWeight?: number;
  /** Whether the error is the fault of single items, so that the others should be committed without them. */
  bisectOn(error: unknown): boolean;
  /**
   * Asked after every other error: the result of each item that was committed all the same (its answer was lost), else undefined.
   * Waits for the database itself, as long as that is worth it; every item fails with what it throws.
   */
  recover?(items: readonly Item[], error: unknown): Promise<readonly (Result | undefined)[]>;
  /** Whether nothing can be committed now. Items that wait behind the failed group then fail, uncommitted. */
  failsAll?(error: unknown): boolean;
  /**
   * Answers a group after the next one has left. For commits of several statements, which would otherwise keep the
   * database waiting while the answers are written; one statement gains more by the callers who come back meanwhile.
   */
  answerLast?: boolean;
}

export interface GroupCommit<Item, Result> {
  /** Resolves when the item is committed. Rejects with the item's own error, or with the problem `overloaded`. */
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is being committed. */
  drain(): Promise<void>;
}

interface Waiter<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Commits together what arrives together, without a timer: a group leaves as soon as none is on its way, and what arrives
 * meanwhile is the next one; up to `maxInFlight` leave beside one another when they are half full (docs/invariants.md, 11).
 */
export function createGroupCommit<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const waiting: Waiter<Item, Result>[] = [];
  const inFlight = new Set<Promise<void>>();
  const { maxInFlight = groupsAtOnce, maxWaiting = Infinity } = options;
  let pumpScheduled = false;
  let weight = 0;
  const weigh = (item: Item): number => options.weigh?.(item) ?? 0;

  function isFull(item: Item): boolean {
    if (waiting.length >= maxWaiting) return true;
    return waiting.length > 0 && weight + weigh(item) > (options.maxWeight ?? Infinity);
  }

  // A statement costs as much as twenty items, so a second group beside one in flight must be half full.
  function mayLeave(): boolean {
    if (inFlight.size === 0) return waiting.length > 0;
    return inFlight.size < maxInFlight && waiting.length >= options.maxGroup / 2;
  }

  function pump(): void {
    pumpScheduled = false;
    while (mayLeave()) {
      const group = waiting.splice(0, options.maxGroup);
      const items = group.map((waiter) => waiter.item);
      for (const item of items) weight -= weigh(item);
      const committing = apart(() => commitGroup(options, items));
      const flight: Promise<void> = committing.then((fates) => land(flight, group, fates));
      inFlight.add(flight);
    }
  }

  function land(
    flight: Promise<void>,
    group: readonly Waiter<Item, Result>[],
    fates: readonly Fate<Result>[],
  ): void {
    inFlight.delete(flight);
    const fatal = fatalIn(options, fates);
    if (fatal) {
      weight = 0;
      for (const waiter of waiting.splice(0)) answer(waiter, fatal);
    }
    const answerAll = (): void => fates.forEach((fate, at) => answer(group[at], fate));
    if (!options.answerLast) answerAll();
    pump();
    // The pool sends a statement in the next tick; this comes after it.
    if (options.answerLast) process.nextTick(answerAll);
  }

  return {
    submit(item) {
      if (isFull(item)) {
        return Promise.reject(problem('overloaded', { retryAfterSeconds: 1 }));
      }
      return new Promise<Result>((resolve, reject) => {
        weight += weigh(item);
        waiting.push({ item, resolve, reject });
        if (pumpScheduled) return;
        // After the poll phase: requests whose sockets became readable together share the first group.
        pumpScheduled = true;
        setImmediate(pump);
      });
    },
    drain: () => emptied(waiting, inFlight),
  };
}

async function emptied(waiting: readonly unknown[], inFlight: ReadonlySet<Promise<void>>): Promise<void> {
  while (waiting.length > 0 || inFlight.size > 0) {
    await (inFlight.size > 0 ? Promise.all(inFlight) : afterPoll());
  }
}

type Fate<Result> = { result: Result } | { error: unknown };

function answer<Item, Result>(waiter: Waiter<Item, Result> | undefined, fate: Fate<Result>): void {
  if ('error' in fate) waiter?.reject(fate.error);
  else waiter?.resolve(fate.result);
}

function fatalIn<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
  fates: readonly Fate<Result>[],
): Fate<Result> | undefined {
  return fates.find((fate) => 'error' in fate && options.failsAll?.(fate.error));
}

/** What became of each of the items, in their order; never rejects. */
async function commitGroup<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
  items: readonly Item[],
): Promise<Fate<Result>[]> {
  try {
    const results = await options.commit(items);
    if (results.length !== items.length) {
      throw new Error(`a group of ${items.length} items was committed with ${results.length} results`);
    }
    return results.map((result) => ({ result }));
  } catch (error) {
    if (!options.bisectOn(error)) return fatesAfterLoss(options, items, error);
    if (items.length === 1) return [{ error }];
    const middle = Math.ceil(items.length / 2);
    const first = await commitGroup(options, items.slice(0, middle));
    return [...first, ...(await commitGroup(options, items.slice(middle)))];
  }
}

async function fatesAfterLoss<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
  items: readonly Item[],
  error: unknown,
): Promise<Fate<Result>[]> {
  try {
    const recovered = await options.recover?.(items, error);
    return items.map((_, at) => {
      const result = recovered?.[at];
      return result === undefined ? { error } : { result };
    });
  } catch (last) {
    return items.map(() => ({ error: last }));
  }
}

/** A large item goes alone: a group of them would be one giant statement. */
const aloneFrom = 256 * 1024;

type IntakeOptions<Item, Result> = Omit<
  GroupCommitOptions<Item, Result>,
  'maxGroup' | 'maxInFlight' | 'maxWaiting' | 'maxWeight' | 'weigh'
> & {
  /** The characters of an item. */
  weigh(item: Item): number;
};

/** A group commit for what callers bring: of bounded size, with large items by themselves. */
export function createIntakeCommit<Item, Result>(
  options: IntakeOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const common = { ...options, maxWaiting: 4_096, maxWeight: 64 * 1024 * 1024 };
  const shared = createGroupCommit<Item, Result>({ ...common, maxGroup: groupSize.rows });
  const alone = createGroupCommit<Item, Result>({ ...common, maxGroup: groupSize.alone, maxInFlight: 1 });
  return {
    submit: (item) => (options.weigh(item) > aloneFrom ? alone : shared).submit(item),
    async drain() {
      await Promise.all([shared.drain(), alone.drain()]);
    },
  };
}
