import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { createGroupCommit } from '../kit/group-commit.ts';
import { seal } from './auto-batch/store.ts';
import { rescue, take, type TakeRequest } from './store/items.ts';
import { giveBack, type GivenLane, type LaneKey } from './store/lanes.ts';
import type { TakenItem } from './work.ts';

const options = { maxGroup: 50, maxInFlight: 2, maxWaiting: Number.MAX_SAFE_INTEGER, bisectOn: () => false };

/** What the lanes of one worker ask for at the same time goes out in one statement. */
export function shareStatements(database: Database): {
  take(request: TakeRequest): Promise<TakenItem[]>;
  rescue(request: TakeRequest): Promise<TakenItem[]>;
  giveBack(lane: GivenLane): Promise<void>;
  seal(lane: LaneKey): Promise<number>;
} {
  const takes = createGroupCommit<TakeRequest, TakenItem[]>({
    ...options,
    commit: async (requests) => {
      const taken = await take(database, requests);
      if (taken.length > 0) crashPoint('after-mark');
      return requests.map(({ id }) => taken.filter((item) => item.laneId === id));
    },
  });
  const rescues = createGroupCommit<TakeRequest, TakenItem[]>({
    ...options,
    commit: async (requests) => {
      const rescued = await rescue(database, requests);
      return requests.map(({ id }) => rescued.filter((item) => item.laneId === id));
    },
  });
  const givings = createGroupCommit<GivenLane, void>({
    ...options,
    commit: async (given) => {
      await giveBack(database, given);
      return given.map(() => undefined);
    },
  });
  const seals = createGroupCommit<LaneKey, number>({
    ...options,
    commit: async (lanes) => {
      const sealed = await seal(database, lanes);
      if (sealed.length > 0) crashPoint('after-seal');
      return lanes.map(({ id }) => sealed.filter((laneId) => laneId === id).length);
    },
  });
  return {
    take: (request) => takes.submit(request),
    rescue: (request) => rescues.submit(request),
    giveBack: (lane) => givings.submit(lane),
    seal: (lane) => seals.submit(lane),
  };
}
