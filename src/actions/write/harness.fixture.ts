import type { Ground } from '../../kit/ground.ts';
import { createWorker as createLaneWorker, type Gathers, type Worker } from '../../lanes/index.ts';
import {
  createHousekeeping,
  createOperations,
  endsOf,
  type Operations,
  type WorkItem,
} from '../../operations/index.ts';
import { kindOf } from './kind.ts';
import { defaultRetryPolicy, type RetryPolicy } from './record/next-step.ts';
import type { ItemResult, Sender } from './send/sender.ts';
import {
  createSynchronousWrites,
  type SynchronousOptions,
  type SynchronousWrites,
} from './send/synchronous.ts';

/** The ledger, and the synchronous writes of one node upon it. */
export type Node = Operations & Pick<SynchronousWrites, 'perform'>;

export function createNode(ground: Ground, options: SynchronousOptions = {}): Node {
  const operations = createOperations(ground);
  const writes = createSynchronousWrites(ground, operations, options);
  return {
    ...operations,
    perform: writes.perform,
    async close(deadlineMs) {
      await writes.close(deadlineMs);
      await operations.close(deadlineMs);
    },
  };
}

export type { Worker };

type LaneOptions = Omit<Parameters<typeof createLaneWorker>[1], 'kinds'>;

/** A worker of the ledger's own, with its housekeeping, whose writes the sender does. */
export function createWorker(
  ground: Ground,
  {
    sender,
    retryPolicy,
    gathers,
    ...options
  }: LaneOptions & {
    sender: Sender;
    retryPolicy?: Partial<RetryPolicy>;
    gathers?: Gathers;
  },
): Worker {
  const ends = endsOf(ground);
  const policy = { ...defaultRetryPolicy, ...retryPolicy };
  const kind = kindOf(ends, sender, { policy, gathers });
  const worker = createLaneWorker(ground, { ...options, kinds: [kind] });
  const housekeeping = createHousekeeping(ground.database, ground.log, {});
  return {
    ...worker,
    async start(afterOutage) {
      housekeeping.start();
      await worker.start(afterOutage);
    },
    async stop(deadlineMs) {
      await worker.stop(deadlineMs);
      await housekeeping.stop();
      await ends.close();
    },
  };
}

/** Says of each item what the function says. */
export function handlerOf(each: (item: WorkItem) => ItemResult | Promise<ItemResult>): Sender {
  return { send: async (item) => each(item) };
}

export function applied(item: WorkItem): ItemResult {
  return {
    kind: 'outcomes',
    outcomes: item.records.map(({ index }) => ({ kind: 'applied', recordId: `r${index}` })),
  };
}

export function failed(item: WorkItem, retryable: boolean, retryAfterMs?: number): ItemResult {
  return {
    kind: 'outcomes',
    outcomes: item.records.map(() => ({
      kind: 'notApplied',
      failure: {
        category: retryable ? 'rateLimit' : 'validation',
        retryable,
        message: retryable ? 'too many requests' : 'email is not an address',
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    })),
  };
}
