import type { Database } from '../../../kit/db/database.ts';
import type { Logger } from '../../../kit/log.ts';
import { findStray, type NodeLane } from '../../../lanes/index.ts';
import {
  load,
  placeOf,
  release,
  withPayloads,
  type Ends,
  type KeyClaim,
  type WorkItem,
} from '../../../operations/index.ts';
import { defaultRetryPolicy } from '../record/next-step.ts';
import { allOutcomes, settleSynchronous } from '../record/settle.ts';

interface StrayDeps {
  database: Database;
  log: Logger;
  ends: Pick<Ends, 'record'>;
}

/** What this process does in a node's lane, so that the rows of it that nobody does can be told from those. */
export interface UnderWay {
  /** By operation, from before its acceptance until its record. */
  readonly operations: Set<string>;
  /** What is perhaps accepted, or not taken back, since the answer was lost, and whose caller was told to come again; with its key. */
  readonly toldAgain: Map<string, KeyClaim | undefined>;
}

const underWay = new WeakMap<NodeLane, UnderWay>();

export function underWayIn(lane: NodeLane): UnderWay {
  const known = underWay.get(lane) ?? { operations: new Set(), toldAgain: new Map() };
  underWay.set(lane, known);
  return known;
}

/**
 * Ends the synchronous writes in the lanes of this node that nobody here sends: their acceptance was committed and its
 * answer lost, or it could not be taken back. Nothing was sent, and nothing will be; their keys are free for the repetition that the caller was asked for.
 */
export async function endStray(deps: StrayDeps, lanes: readonly NodeLane[]): Promise<void> {
  const { database, log } = deps;
  if (lanes.length === 0) return;
  const known = lanes.flatMap((lane) => [...underWayIn(lane).operations]);
  const found = await findStray(database, lanes, known);
  // What began after the question is in the set by now; what ended meanwhile is refused by its fence.
  const nobodys = found.filter(({ laneId, ref }) =>
    lanes.some((lane) => lane.id === laneId && !underWayIn(lane).operations.has(ref)),
  );
  if (nobodys.length === 0) return;
  for (const item of await load(database, nobodys)) {
    const lane = lanes.find(({ id }) => id === item.laneId);
    const toldAgain = lane && underWayIn(lane).toldAgain;
    const told = toldAgain?.has(item.operationId) ? { key: toldAgain.get(item.operationId) } : undefined;
    if (await endUnsent(deps, await withPayloads(database, item), told))
      log.warn(
        { projectId: item.projectId, ...placeOf(item.request), operationId: item.operationId },
        'a write whose acceptance was not answered was ended unsent',
      );
    toldAgain?.delete(item.operationId);
  }
}

/** `told`: its caller was told to come again. Any other was told to look at the operation. */
async function endUnsent(
  { database, ends }: StrayDeps,
  item: WorkItem,
  told: { key: KeyClaim | undefined } | undefined,
): Promise<boolean> {
  const why =
    'nothing was sent: the database did not answer in time when the write was accepted or taken back';
  const unsent = allOutcomes(item, {
    kind: 'notApplied',
    failure: {
      category: 'internal',
      retryable: false,
      message: told ? `${why}, and its caller was told to send it again` : why,
      ...(told ? { leftToCaller: true } : {}),
    },
  });
  const settlement = settleSynchronous(item, unsent, defaultRetryPolicy);
  return database.transaction(async (tx) => {
    const [kept = false] = await ends.record(tx, [settlement]);
    if (kept && told?.key) await release(tx, item.projectId, told.key, item.operationId);
    return kept;
  });
}
