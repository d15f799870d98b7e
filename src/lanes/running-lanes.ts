import type { RunningLane } from './lane-runner.ts';
import type { LaneKey } from './store/lanes.ts';

/**
 * What a worker works on. A lane may be in it twice: claimed again by this node, since its lease was over by the database's clock, while
 * what was begun under the old lease ends. So may two projects, one of which was brought in from the other, with lanes of the same id.
 */
export interface RunningLanes extends Iterable<RunningLane> {
  readonly size: number;
  add(running: RunningLane): void;
  has(running: RunningLane): boolean;
  delete(running: RunningLane): void;
  clear(): void;
  /** The lane is claimed anew, so that no former lease of it holds: what is under way there is aborted. */
  cutFormer(lane: LaneKey): void;
  /** There may be new items in the lanes of this id. */
  poke(laneId: string): void;
}

export function createRunningLanes(): RunningLanes {
  const all = new Set<RunningLane>();
  const byId = new Map<string, Set<RunningLane>>();
  return {
    [Symbol.iterator]: () => all.values(),
    get size() {
      return all.size;
    },
    add(running) {
      const { id } = running.lane;
      all.add(running);
      byId.set(id, (byId.get(id) ?? new Set()).add(running));
    },
    has: (running) => all.has(running),
    delete(running) {
      const { id } = running.lane;
      const same = byId.get(id);
      all.delete(running);
      same?.delete(running);
      if (same?.size === 0) byId.delete(id);
    },
    clear() {
      all.clear();
      byId.clear();
    },
    cutFormer({ projectId, id }) {
      for (const running of byId.get(id) ?? []) if (running.lane.projectId === projectId) running.cut();
    },
    poke(laneId) {
      for (const running of byId.get(laneId) ?? []) running.poke();
    },
  };
}
