import type { Database } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import type { Logger } from '../kit/log.ts';
import { extend, giveBack, openNode, type LaneKey } from './store/lanes.ts';

/** This node's lane for the synchronous writes of one project (work.md, rule 7). Times are monotonic. */
export interface NodeLane extends LaneKey {
  leaseEndsAt: number;
  /** Aborted when the lane is lost or given back. */
  readonly cut: AbortController;
}

export interface NodeLanes {
  /** The lane of the project, opened at its first synchronous write. */
  of(projectId: string): Promise<NodeLane>;
  /** Forgets a lane that turned out to be lost, so that the next write opens another. */
  abandon(lane: NodeLane): void;
  /** Gives the lanes back; what is still marked in them becomes due for rescue at once. */
  close(): Promise<void>;
}

interface NodeLanesOptions {
  database: Database;
  log: Logger;
  leaseMs: number;
}

/** Opens lanes and renews them while this node lives; a dead node's lanes fall due and are rescued by any worker. */
export function createNodeLanes({ database, log, leaseMs }: NodeLanesOptions): NodeLanes {
  const current = new Map<string, Promise<NodeLane>>();
  /** Also lanes that were abandoned while something in them is under way. */
  const held = new Set<NodeLane>();
  const timer = setInterval(() => void renew(), leaseMs / 3);
  timer.unref();

  async function open(projectId: string): Promise<NodeLane> {
    const startedAt = performance.now();
    const lane = {
      projectId,
      id: newId(),
      lease: crypto.randomUUID(),
      leaseEndsAt: startedAt + leaseMs,
      cut: new AbortController(),
    };
    await openNode(database, lane, leaseMs);
    held.add(lane);
    return lane;
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return;
    const lanes = [...held];
    const startedAt = performance.now();
    try {
      const kept = new Set((await extend(database, lanes, leaseMs)).map((lane) => lane.id));
      for (const lane of lanes) {
        if (kept.has(lane.id)) lane.leaseEndsAt = startedAt + leaseMs;
        else lose(lane);
      }
    } catch (error) {
      log.warn({ err: error }, 'the lanes of this node could not be renewed; trying again');
    }
  }

  function lose(lane: NodeLane): void {
    held.delete(lane);
    lane.leaseEndsAt = -Infinity;
    lane.cut.abort();
    forget(lane);
  }

  function forget(lane: NodeLane): void {
    const known = current.get(lane.projectId);
    void known?.then(
      (found) => found === lane && current.get(lane.projectId) === known && current.delete(lane.projectId),
      () => undefined,
    );
  }

  return {
    of(projectId) {
      const known = current.get(projectId);
      if (known) return known;
      const opened = open(projectId);
      current.set(projectId, opened);
      opened.catch(() => current.delete(projectId));
      return opened;
    },
    abandon: forget,
    async close() {
      clearInterval(timer);
      current.clear();
      for (const lane of held) lane.cut.abort();
      const lanes = [...held].map((lane) => ({ ...lane, wakes: '0', blockedMs: 0 }));
      held.clear();
      if (lanes.length > 0) await giveBack(database, lanes);
    },
  };
}
