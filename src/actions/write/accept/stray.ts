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
import { isRepeatedUnseen, storedWriteOf } from '../prepare/stored.ts';
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
  /** Keys of what was perhaps accepted: the answer was lost, and its caller was told to come again. */
  readonly doubtful: Map<string, KeyClaim>;
}

const underWay = new WeakMap<NodeLane, UnderWay>();

export function underWayIn(lane: NodeLane): UnderWay {
  const known = underWay.get(lane) ?? { operations: new Set(), doubtful: new Map() };
  underWay.set(lane, known);
  return known;
}

/**
 * Ends the synchronous writes in the lanes of this node that nobody here sends: their acceptance was committed and its
 * answer lost. Nothing was sent, and nothing will be; their keys are free for the repetition that the caller was asked for.
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
    const doubtful = lane && underWayIn(lane).doubtful;
    if (await endUnsent(deps, await withPayloads(database, item), doubtful?.get(item.operationId)))
      log.warn(
        { projectId: item.projectId, ...placeOf(item.request), operationId: item.operationId },
        'a write whose acceptance was not answered was ended unsent',
      );
    doubtful?.delete(item.operationId);
  }
}

async function endUnsent(
  { database, ends }: StrayDeps,
  item: WorkItem,
  key: KeyClaim | undefined,
): Promise<boolean> {
  // Of what may be sent later its caller, without a key, was told to look here.
  const isLeft = key !== undefined || !isRepeatedUnseen(storedWriteOf(item.request).kind);
  const why = 'nothing was sent: the database did not answer in time when the write was accepted';
  const unsent = allOutcomes(item, {
    kind: 'notApplied',
    failure: {
      category: 'internal',
      retryable: false,
      message: isLeft ? `${why}, and its caller was told to send it again` : why,
      ...(isLeft ? { leftToCaller: true } : {}),
    },
  });
  const settlement = settleSynchronous(item, unsent, defaultRetryPolicy);
  return database.transaction(async (tx) => {
    const [kept = false] = await ends.record(tx, [settlement]);
    if (kept && key) await release(tx, item.projectId, key, item.operationId);
    return kept;
  });
}
