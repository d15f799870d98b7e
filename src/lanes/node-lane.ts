import type { Database } from '../kit/db/database.ts';
import { acceptingNothing } from '../kit/db/lost-commit.ts';
import { newId } from '../kit/ids.ts';
import type { Logger } from '../kit/log.ts';
import { problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import { extend, giveBackNodes, leaveWork, openNode, type LaneKey } from './store/lanes.ts';

/** This node's own lane for one project: what is accepted under it is started already. Times are monotonic. */
export interface NodeLane extends LaneKey {
  leaseEndsAt: number;
  /** Aborted when the lane is lost or given back. */
  readonly cut: AbortController;
}

export interface NodeLanes {
  /** The lane of the project, opened when it is first asked for, and held for a while from now. Throws database-unavailable. */
  of(projectId: string): Promise<NodeLane>;
  /** Forgets a lane that turned out to be lost, so that another is opened next. */
  abandon(lane: NodeLane): void;
  /** Something in the lane waits for an answer of the provider: with the next renewal it is left to whoever comes first. */
  leave(lane: NodeLane): void;
  /** Gives the lanes back; what is still marked in them becomes due for rescue at once. */
  close(): Promise<void>;
}

/** After a failure lanes are renewed again so soon. */
const renewAgainMs = 1_000;
/** With less than this part of its lease left, a lane is renewed before anything is accepted under it. */
const shortOfLease = 0.5;

interface NodeLanesOptions {
  database: Database;
  log: Logger;
  leaseMs: number;
  /** Called with the lanes of this node after each renewal, and before they are given back. */
  lookAfter: (lanes: readonly NodeLane[]) => Promise<void>;
}

interface State extends NodeLanesOptions {
  /** By project. */
  current: Map<string, Promise<NodeLane>>;
  /** Also lanes that were abandoned while something in them is under way. */
  held: Set<NodeLane>;
  /** Of them, those in which something waits. */
  waiting: Set<NodeLane>;
  renewing: Promise<boolean> | undefined;
}

/** Opens lanes and renews them while this node lives; a dead node's lanes fall due and are rescued by any worker. */
export function createNodeLanes(options: NodeLanesOptions): NodeLanes {
  const state: State = {
    ...options,
    current: new Map(),
    held: new Set(),
    waiting: new Set(),
    renewing: undefined,
  };
  const { leaseMs } = options;
  const closed = new AbortController();
  void keepRenewing(state, closed.signal);
  return {
    async of(projectId) {
      for (;;) {
        const lane = await currentLane(state, projectId);
        if (performance.now() < lane.leaseEndsAt - leaseMs * shortOfLease) return lane;
        // The database was away: what is accepted under what is left of the lease may come too late to be sent.
        if (!(await renewOnce(state))) throw problem('database-unavailable');
      }
    },
    abandon: (lane) => forget(state, lane),
    leave: (lane) => void state.waiting.add(lane),
    async close() {
      closed.abort();
      state.current.clear();
      const lanes = [...state.held];
      await state.lookAfter(lanes).catch(() => undefined);
      state.held.clear();
      for (const lane of lanes) lane.cut.abort();
      if (lanes.length > 0) await giveBackNodes(state.database, lanes);
    },
  };
}

function currentLane(state: State, projectId: string): Promise<NodeLane> {
  const known = state.current.get(projectId);
  if (known) return known;
  const opened = open(state, projectId);
  state.current.set(projectId, opened);
  opened.catch(() => state.current.delete(projectId));
  return opened;
}

async function open({ database, leaseMs, held }: State, projectId: string): Promise<NodeLane> {
  const lane: NodeLane = {
    projectId,
    id: newId(),
    lease: crypto.randomUUID(),
    leaseEndsAt: performance.now() + leaseMs,
    cut: new AbortController(),
  };
  await acceptingNothing(openNode(database, lane, leaseMs));
  held.add(lane);
  return lane;
}

async function keepRenewing(state: State, closed: AbortSignal): Promise<void> {
  const regularMs = state.leaseMs / 4;
  let waitMs = regularMs;
  while (!closed.aborted) {
    await sleep(waitMs, closed);
    if (closed.aborted) return;
    waitMs = (await renewOnce(state)) ? regularMs : Math.min(regularMs, renewAgainMs);
  }
}

/** Those who ask while one is on its way share it. */
function renewOnce(state: State): Promise<boolean> {
  state.renewing ??= renew(state).finally(() => {
    state.renewing = undefined;
  });
  return state.renewing;
}

/** Answers whether the database did. */
async function renew(state: State): Promise<boolean> {
  const { database, log, leaseMs, held } = state;
  const lanes = [...held];
  if (lanes.length === 0) return true;
  const startedAt = performance.now();
  try {
    const kept = await extend(database, lanes, leaseMs);
    for (const lane of lanes) {
      if (kept.has(lane)) lane.leaseEndsAt = startedAt + leaseMs;
      // One that was given back meanwhile is nobody's loss.
      else if (held.has(lane)) lose(state, lane);
    }
    await leaveWaiting(state);
    await state.lookAfter([...held]);
    return true;
  } catch (error) {
    log.warn({ err: error }, 'the lanes of this node could not be renewed; trying again');
    return false;
  }
}

/** Into lanes without a holder. Those of a lane that was lost go with it. */
async function leaveWaiting({ database, waiting }: State): Promise<void> {
  for (const lane of waiting) {
    // Before the statement, so that what begins to wait meanwhile has its own turn.
    waiting.delete(lane);
    try {
      await leaveWork(database, lane, newId());
    } catch (error) {
      waiting.add(lane);
      throw error;
    }
  }
}

function lose(state: State, lane: NodeLane): void {
  state.log.warn(
    { projectId: lane.projectId, lane: lane.id },
    'a lane of this node was lost; what is under way there is cut off',
  );
  state.held.delete(lane);
  state.waiting.delete(lane);
  lane.leaseEndsAt = -Infinity;
  lane.cut.abort();
  forget(state, lane);
}

function forget({ current }: State, lane: NodeLane): void {
  const known = current.get(lane.projectId);
  const drop = (found: NodeLane): boolean =>
    found === lane && current.get(lane.projectId) === known && current.delete(lane.projectId);
  known?.then(drop, () => false);
}
