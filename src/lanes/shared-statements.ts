import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { faultOf } from '../kit/db/faults.ts';
import { createGroupCommit, groupSize } from '../kit/group-commit.ts';
import type { Job } from './jobs.ts';
import type { Gathers, Marked } from './kind.ts';
import { giveBack, holdingOf, plain, type GivenLane, type LaneKey } from './store/lanes.ts';
import { rescue, take, type TakeRequest } from './store/work.ts';

const options = { maxGroup: groupSize.queues, bisectOn: () => false };

export interface SharedStatements {
  take(request: TakeRequest): Promise<Job[]>;
  rescue(request: TakeRequest): Promise<Job[]>;
  giveBack(lane: GivenLane): Promise<void>;
  /** Makes work of what was gathered in the lane; answers how much. */
  prepare(lane: LaneKey): Promise<number>;
}

/** What the lanes of one worker ask for at the same time goes out in one statement. */
export function shareStatements(
  database: Database,
  load: (marked: readonly Marked[]) => Promise<Job[]>,
  gathers: Gathers | undefined,
): SharedStatements {
  const marking = (mark: typeof take, onMarked: () => void) =>
    createGroupCommit<TakeRequest, Job[]>({
      ...options,
      commit: async (requests) => {
        const marked = await mark(database, requests);
        if (marked.length === 0) return requests.map(() => []);
        onMarked();
        const jobs = await load(marked);
        const byHolding = Map.groupBy(jobs, ({ marked: { projectId, laneId: id, lease } }) =>
          holdingOf({ projectId, id, lease }),
        );
        return requests.map((lane) => byHolding.get(holdingOf(lane)) ?? []);
      },
    });
  const takes = marking(take, () => crashPoint('after-mark'));
  const rescues = marking(rescue, () => undefined);
  const givings = createGroupCommit<GivenLane, void>({
    ...options,
    commit: async (given) => {
      await giveBack(database, given, gathers?.statements ?? plain);
      return given.map(() => undefined);
    },
  });
  const preparings = createGroupCommit<LaneKey, number>({
    ...options,
    // What gathers in one lane may be at fault.
    bisectOn: (error) => faultOf(error) !== 'unable',
    commit: async (lanes) => {
      const ready = (await gathers?.prepare(database, lanes)) ?? [];
      return lanes.map(({ id }) => ready.filter((laneId) => laneId === id).length);
    },
  });
  return {
    take: (request) => takes.submit(request),
    rescue: (request) => rescues.submit(request),
    giveBack: (lane) => givings.submit(lane),
    prepare: (lane) => preparings.submit(lane),
  };
}
