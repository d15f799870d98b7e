import { isDatabaseAway, type Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { findStray, type NodeLane } from '../lanes/index.ts';
import { defaultRetryPolicy } from './next-step.ts';
import { allOutcomes, settleSynchronous } from './settle.ts';
import { release } from './store/keys.ts';
import { load, withPayloads } from './store/load.ts';
import { record } from './store/record.ts';
import type { KeyClaim, WorkItem } from './work.ts';

/** What this process does in a node's lane, so that the rows of it that nobody does can be told from those. */
export interface UnderWay {
  /** By operation, from before its acceptance until its record. */
  readonly operations: Set<string>;
  /** Keys of what was perhaps accepted: the answer was lost, and its caller was told to come again. */
  readonly doubtful: Map<string, KeyClaim>;
}

const underWay = new WeakMap<NodeLane, UnderWay>();

export function underWayIn(lane: NodeLane): UnderWay {
  const known = underWay.get(lane) ?? { operations: new Set(), doubtful: new Map() };
  underWay.set(lane, known);
  return known;
}

/** Runs an acceptance under the id; what it throws leaves open whether it happened. */
export async function acceptUnder<T extends { earlier?: unknown } | undefined>(
  { operations, doubtful }: UnderWay,
  operationId: string,
  key: KeyClaim | undefined,
  accept: () => Promise<T>,
): Promise<T> {
  operations.add(operationId);
  try {
    const accepted = await accept();
    if (!accepted || accepted.earlier) operations.delete(operationId);
    return accepted;
  } catch (error) {
    operations.delete(operationId);
    if (key && isDatabaseAway(error)) doubtful.set(operationId, key);
    throw error;
  }
}

/**
 * Ends the synchronous writes in the lanes of this node that nobody here sends: their acceptance was committed and its
 * answer lost. Nothing was sent, and nothing will be; their keys are free for the repetition that the caller was asked for.
 */
export async function endStray(database: Database, log: Logger, lanes: readonly NodeLane[]): Promise<void> {
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
    const doubtful = lane && underWayIn(lane).doubtful;
    if (await endUnsent(database, await withPayloads(database, item), doubtful?.get(item.operationId)))
      log.warn(
        { projectId: item.projectId, operationId: item.operationId },
        'a write whose acceptance was not answered was ended unsent',
      );
    doubtful?.delete(item.operationId);
  }
}

async function endUnsent(database: Database, item: WorkItem, key: KeyClaim | undefined): Promise<boolean> {
  const message = 'nothing was sent: the database did not answer in time when the write was accepted';
  const unsent = allOutcomes(item, {
    kind: 'notApplied',
    failure: { category: 'internal', retryable: true, message },
  });
  // It ends here, although it might be tried again: its caller was told so.
  const settlement = settleSynchronous(item, unsent, defaultRetryPolicy);
  return database.transaction(async (tx) => {
    const [kept = false] = await record(tx, [settlement]);
    if (kept && key) await release(tx, item.projectId, key, item.operationId);
    return kept;
  });
}
