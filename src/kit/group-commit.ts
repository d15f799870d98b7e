import { setImmediate as afterPoll } from 'node:timers/promises';
import { problem } from './problem.ts';

export interface GroupCommitOptions<Item, Result> {
  /** Commits all items or none; the results stand in the order of the items. */
  commit(items: readonly Item[]): Promise<readonly Result[]>;
  /** Items in one group at the most. */
  maxGroup: number;
  /** Groups being committed at the same time at the most. */
  maxInFlight: number;
  /** Items waiting for their group at the most; more are refused as `overloaded`. */
  maxWaiting: number;
  /** Whether the error is the fault of single items, so that the others should be committed without them. */
  bisectOn(error: unknown): boolean;
  /**
   * Asked after every other error: the result of each item that was committed all the same (its answer was lost), else undefined.
   * Waits for the database itself, as long as that is worth it; may throw, and then every item fails.
   */
  recover?(items: readonly Item[], error: unknown): Promise<readonly (Result | undefined)[]>;
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
 * meanwhile is the next one; up to `maxInFlight` leave beside one another when they are half full (work.md, rule 11).
 */
export function createGroupCommit<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const waiting: Waiter<Item, Result>[] = [];
  const inFlight = new Set<Promise<void>>();
  let pumpScheduled = false;

  // A statement costs as much as twenty of its items do: another beside one on its way has to be worth it.
  function mayLeave(): boolean {
    if (inFlight.size === 0) return waiting.length > 0;
    return inFlight.size < options.maxInFlight && waiting.length >= options.maxGroup / 2;
  }

  function pump(): void {
    pumpScheduled = false;
    while (mayLeave()) {
      const flight = commitGroup(options, waiting.splice(0, options.maxGroup)).finally(() => {
        inFlight.delete(flight);
        pump();
      });
      inFlight.add(flight);
    }
  }

  return {
    submit(item) {
      if (waiting.length >= options.maxWaiting) {
        return Promise.reject(problem('overloaded', { retryAfterSeconds: 1 }));
      }
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (pumpScheduled) return;
        // After the poll phase: requests whose sockets became readable together share the first group.
        pumpScheduled = true;
        setImmediate(pump);
      });
    },
    async drain() {
      while (waiting.length > 0 || inFlight.size > 0) {
        await (inFlight.size > 0 ? Promise.all(inFlight) : afterPoll());
      }
    },
  };
}

/** Settles every waiter of the group; never rejects. */
async function commitGroup<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
  group: Waiter<Item, Result>[],
): Promise<void> {
  const items = group.map((waiter) => waiter.item);
  try {
    const results = await options.commit(items);
    if (results.length !== group.length) {
      throw new Error(`a group of ${group.length} items was committed with ${results.length} results`);
    }
    for (const [index, waiter] of group.entries()) waiter.resolve(results[index] as Result);
  } catch (error) {
    if (!options.bisectOn(error)) return settleAfterLoss(options, group, error);
    if (group.length === 1) return group[0]?.reject(error);
    const middle = Math.ceil(group.length / 2);
    await commitGroup(options, group.slice(0, middle));
    await commitGroup(options, group.slice(middle));
  }
}

async function settleAfterLoss<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
  group: readonly Waiter<Item, Result>[],
  error: unknown,
): Promise<void> {
  const items = group.map((waiter) => waiter.item);
  const recovered = await options.recover?.(items, error).catch(() => undefined);
  for (const [index, waiter] of group.entries()) {
    const result = recovered?.[index];
    if (result === undefined) waiter.reject(error);
    else waiter.resolve(result);
  }
}
