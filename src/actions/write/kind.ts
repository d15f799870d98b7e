import { crashPoint } from '../../kit/crash-point.ts';
import {
  defineKind,
  type Gathers,
  type Ran,
  type RegisteredKind,
  type WorkContext,
} from '../../lanes/index.ts';
import { load, withPayloads, type Ends, type Settlement, type WorkItem } from '../../operations/index.ts';
import { openBatches } from './auto-batch/store.ts';
import { defaultRetryPolicy, type RetryPolicy } from './record/next-step.ts';
import { senderOf } from './send/send.ts';
import type { WriteDeps } from './writes.ts';
import { plainer } from './record/plainer.ts';
import type { ItemResult, Sender } from './send/sender.ts';
import {
  allOutcomes,
  brokeOff,
  deadlinePassed,
  settle,
  settleSynchronous,
  unknownAfterLoss,
} from './record/settle.ts';

/** Queued writes, and the batches that become such. */
export function writeKind(deps: WriteDeps): RegisteredKind {
  return kindOf(deps.operations.ends, senderOf(deps), { gathers: openBatches });
}

interface KindOptions {
  policy?: RetryPolicy;
  /** What becomes such work. */
  gathers?: Gathers | undefined;
}

/** Queued writes as the sender does them. */
export function kindOf(
  ends: Ends,
  sender: Sender,
  { policy = defaultRetryPolicy, gathers }: KindOptions = {},
): RegisteredKind {
  /** In the lane of a node stand synchronous writes, which have no second attempt. */
  const ran = (item: WorkItem, result: ItemResult): Ran<Settlement> => ({
    end: (item.isOfNode ? settleSynchronous : settle)(item, result, policy),
    heard: result.heard,
    ...(result.kind === 'throttled' ? { laneWaitsMs: result.inMs } : {}),
  });
  return defineKind<WorkItem, Settlement>({
    ...ends,
    less: plainer,
    name: 'write',
    load,
    large: { bytesOf: ({ unreadBytes }) => unreadBytes, read: withPayloads },
    run: async (item, context) => ran(item, await attempt(item, sender, context)),
    rescued: async (item, context) => ran(item, await resolveRescued(item, sender, context)),
    unsent: (item, inMs) => settle(item, { kind: 'postponed', inMs }, policy),
    ...(gathers ? { gathers } : {}),
  });
}

/** One attempt of an item that was taken: what its sender says, or what is known without asking it. */
export async function attempt(item: WorkItem, sender: Sender, context: WorkContext): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  const result = await guarded(item, () => sender.send(item, context));
  crashPoint('after-send');
  return result;
}

/** What became of an item that a lost node had sent, as far as the sender can find out. It is never sent from here. */
export async function resolveRescued(
  item: WorkItem,
  sender: Sender,
  context: WorkContext,
): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  return guarded(item, async () => (await sender.findOut?.(item, context)) ?? unknownAfterLoss(item));
}

/** What a sender throws may have happened after the first byte. */
async function guarded(item: WorkItem, work: () => Promise<ItemResult>): Promise<ItemResult> {
  try {
    return await work();
  } catch (error) {
    return allOutcomes(item, brokeOff(error));
  }
}
