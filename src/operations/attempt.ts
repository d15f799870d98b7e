import { crashPoint } from '../kit/crash-point.ts';
import { allOutcomes, deadlinePassed, unknownOutcome } from './settle.ts';
import type { ItemResult, TakenItem, WorkContext, WorkHandler } from './work.ts';

export type Handlers = Record<string, WorkHandler>;

/** One attempt of an item that was taken: what its handler says, or what is known without asking it. */
export async function attempt(
  item: TakenItem,
  handlers: Handlers,
  context: WorkContext,
): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  const handler = handlers[item.actionType];
  // A newer node's kind of work, during a rolling upgrade: that node will take it.
  if (!handler) return { kind: 'postponed', inMs: 60_000 };
  if (!context.mayStillSend()) return { kind: 'postponed', inMs: 0 };
  const result = await guarded(item, () => handler.execute([item], context));
  crashPoint('after-send');
  return result;
}

/** What became of an item that a lost node had sent, as far as the handler can find out. It is never sent from here. */
export async function resolveRescued(
  item: TakenItem,
  handlers: Handlers,
  context: WorkContext,
): Promise<ItemResult> {
  if (item.expired) return deadlinePassed(item);
  const handler = handlers[item.actionType];
  const lost = allOutcomes(
    item,
    unknownOutcome(
      'the lease of the node that sent it ended before the answer was recorded; it was not sent again',
    ),
  );
  if (!handler?.resolveUnknown) return lost;
  return guarded(item, () => handler.resolveUnknown?.([item], context) ?? Promise.resolve([lost]));
}

/** What a handler throws, or leaves out, may have happened after the first byte. */
async function guarded(item: TakenItem, work: () => Promise<ItemResult[]>): Promise<ItemResult> {
  try {
    const [result] = await work();
    return result ?? allOutcomes(item, unknownOutcome('no outcome was reported'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return allOutcomes(item, unknownOutcome(`the attempt broke off: ${reason}`));
  }
}
