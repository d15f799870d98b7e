import { isDatabaseAway, type Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { defaultRetryPolicy } from './next-step.ts';
import { allOutcomes, settleSynchronous } from './settle.ts';
import { findStray, withPayloads } from './store/items.ts';
import { release } from './store/keys.ts';
import type { LaneKey } from './store/lanes.ts';
import { record } from './store/record.ts';
import type { KeyClaim, TakenItem } from './work.ts';

/** What this process does in a node's lane, so that the rows of it that nobody does can be told from those. */
export interface UnderWay {
  /** By operation, from before its acceptance until its record. */
  readonly operations: Set<string>;
  /** Keys of what was perhaps accepted: the answer was lost, and its caller was told to come again. */
  readonly doubtful: Map<string, KeyClaim>;
}

export function nothingUnderWay(): UnderWay {
  return { operations: new Set(), doubtful: new Map() };
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
export async function endStray(
  database: Database,
  log: Logger,
  lanes: readonly (LaneKey & { underWay: UnderWay })[],
): Promise<void> {
  if (lanes.length === 0) return;
  const known = lanes.flatMap(({ underWay }) => [...underWay.operations]);
  const rows = await findStray(database, lanes, known);
  for (const lane of lanes) {
    const { operations, doubtful } = lane.underWay;
    // What began after the question is in the set by now; what ended meanwhile is refused by its fence.
    const stray = rows.filter((item) => item.laneId === lane.id && !operations.has(item.operationId));
    for (const found of stray) {
      const item = await withPayloads(database, found);
      if (await endUnsent(database, item, doubtful.get(item.operationId)))
        log.warn(
          { projectId: item.projectId, operationId: item.operationId },
          'a write whose acceptance was not answered was ended unsent',
        );
      doubtful.delete(item.operationId);
    }
  }
}

async function endUnsent(database: Database, item: TakenItem, key: KeyClaim | undefined): Promise<boolean> {
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
