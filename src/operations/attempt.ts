import { crashPoint } from '../kit/crash-point.ts';
import type { WorkContext } from '../lanes/index.ts';
import { allOutcomes, deadlinePassed, unknownOutcome } from './settle.ts';
import type { ItemResult, WorkHandler, WorkItem } from './work.ts';

/** One attempt of an item that was taken: what its handler says, or what is known without asking it. */
export async function attempt(
  item: WorkItem,
  handler: WorkHandler,
  context: WorkContext,
): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  const result = await guarded(item, () => handler.execute(item, context));
  crashPoint('after-send');
  return result;
}

/** What became of an item that a lost node had sent, as far as the handler can find out. It is never sent from here. */
export async function resolveRescued(
  item: WorkItem,
  handler: WorkHandler,
  context: WorkContext,
): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  const lost = allOutcomes(
    item,
    unknownOutcome(
      'the lease of the node that sent it ended before the answer was recorded; it was not sent again',
    ),
  );
  return guarded(item, async () => (await handler.resolveUnknown?.(item, context)) ?? lost);
}

/** What a handler throws may have happened after the first byte. */
async function guarded(item: WorkItem, work: () => Promise<ItemResult>): Promise<ItemResult> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return allOutcomes(item, unknownOutcome(`the attempt broke off: ${reason}`));
  }
}
