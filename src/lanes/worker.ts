import type { Ground } from '../kit/ground.ts';
import { sleep } from '../kit/retry.ts';
import { createBreaker } from './breaker.ts';
import { createBytes } from './bytes.ts';
import { claimDue } from './claim.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import { listenForWork } from './hints.ts';
import { hurryKind } from './hurry-kind.ts';
import { defineKind, loaderOf, type RegisteredKind } from './jobs.ts';
import { runLane, type RunnerDeps, type RunningLane } from './lane-runner.ts';
import { createRunningLanes, type RunningLanes } from './running-lanes.ts';
import { createPool, type Share } from './pool.ts';
import { createReturns } from './returns.ts';
import { shareStatements } from './shared-statements.ts';
import { extend, firstProject, fold, giveBack, plain, type Gathering } from './store/lanes.ts';
import { giveBackUnmarked } from './store/work.ts';
import { createVacuum, type Vacuum } from './vacuum.ts';

export interface WorkerOptions {
  /** What this node can do; at most one of them gathers. */
  kinds: readonly RegisteredKind[];
  /**
   * What the calls of a lane share with those of other lanes, such as their host, last; by itself a lane shares with nobody. With
   * it, a lane begins with few calls at once: its kinds tell what they heard.
   */
  shareOf?: (lane: { projectId: string; id: string }) => Promise<Share>;
  /** How long a claim holds without renewal; a dead node's work is taken over after it. */
  leaseMs?: number;
  /** Looks for work this often when nobody announces any; at most 2 s. */
  pollMs?: number;
  lanesPerClaim?: number;
  /** Lanes that move; those that only wait for answers are not counted, up to ten times as many. */
  maxLanes?: number;
  /** Items being done at once, over all lanes, and in one lane. */
  maxConcurrentItems?: number;
  itemsPerLane?: number;
  /** Of the payloads of large items that are in memory at once. */
  bytesInMemory?: number;
  /** With `maxLanes` held, a lane goes back after this long, so that others have their turn. */
  sliceMs?: number;
}

export interface Worker {
  /** `afterOutage`: the database was away right before, so that its other holders come first. */
  start(afterOutage?: boolean): Promise<void>;
  /**
   * Claims no more, waits for what is under way and gives the lanes back. After the deadline what is under way is aborted,
   * recorded as far as it can be, and its lanes are given back all the same.
   */
  stop(deadlineMs: number): Promise<void>;
  /** There is new work; with the lane, if it is known. */
  hint(laneId?: string): void;
}

const defaults = {
  leaseMs: 60_000,
  pollMs: 1_000,
  lanesPerClaim: 20,
  maxLanes: 100,
  maxConcurrentItems: 600,
  itemsPerLane: 20,
  bytesInMemory: 64 * 1024 * 1024,
  sliceMs: 2_000,
};
type Settings = typeof defaults;

/** Between two looks for work, so that a stream of hints does not become a stream of claims. */
const minPauseMs = 5;
/** For recording what was aborted, after the deadline of a stop. */
const graceMs = 1_500;
/** A lane of which nothing began or ended for so long does not move. */
const stillAfterMs = 500;
/** After a failure leases are renewed again so soon. */
const renewAgainMs = 1_000;
/** After the database was away, for its holders to renew what they hold and to record what they know. */
const headStartMs = 3_000;

interface State {
  ground: Ground;
  settings: Settings;
  lanes: RunningLanes;
  bell: Doorbell;
  runner: RunnerDeps;
  vacuum: Vacuum;
  gathering: Gathering;
  /** No new work. */
  stopping: AbortController;
  /** Nothing is held any more. */
  stopped: AbortController;
  /** Whether lanes wait that could not be claimed. */
  full: boolean;
  /** The project after which the next claim starts. */
  cursor: string;
  /** Leases of claims whose answer was lost. */
  lost: Set<string>;
  /** Since when looking for work has failed; monotonic, as is the time from which lanes may be claimed again. */
  failingSince: number | undefined;
  claimFrom: number;
}

/** Takes over the lanes of this database, together with any number of workers like it on other nodes. */
export function createWorker(ground: Ground, options: WorkerOptions): Worker {
  const state = createState(ground, options);
  let background: { end(): Promise<unknown>; looking: Promise<void> } | undefined;
  return {
    hint: (laneId) => hint(state, laneId),
    async start(afterOutage = false) {
      if (afterOutage) state.claimFrom = performance.now() + headStartMs;
      const stopListening = listenForWork(ground.database, () => hint(state));
      const renewing = renewLeases(state);
      background = {
        looking: lookForWork(state),
        end() {
          stopListening();
          return renewing;
        },
      };
    },
    async stop(deadlineMs) {
      state.stopping.abort();
      state.bell.ring();
      for (const running of state.lanes) running.poke();
      await released(state, background?.looking, deadlineMs);
      for (const running of state.lanes) running.cut();
      await released(state, background?.looking, graceMs);
      await abandonLanes(state);
      state.stopped.abort();
      await background?.end();
      await state.vacuum.stop();
    },
  };
}

function createState(ground: Ground, options: WorkerOptions): State {
  const { database, log } = ground;
  const { kinds, shareOf, ...given } = options;
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings: Settings = { ...defaults, ...(Object.fromEntries(chosen) as Partial<Settings>) };
  settings.pollMs = Math.min(settings.pollMs, 2_000);
  const [gathers, another] = kinds.flatMap((kind) => kind.gathers ?? []);
  if (another) throw new Error('of the kinds of a worker one gathers');
  const vacuum = createVacuum(database, log, gathers?.tables ?? []);
  const hands = { database, log, onEnded: (count: number) => vacuum.ended(count) };
  const load = loaderOf(hands, [...kinds, defineKind(hurryKind(database))]);
  const stopping = new AbortController();
  const runner: RunnerDeps = {
    ...shareStatements(database, load, gathers),
    ...settings,
    giveBackUnmarked: (lane, except) => giveBackUnmarked(database, lane, except, gathers?.statements),
    places: createPool(settings.maxConcurrentItems),
    bytes: createBytes(settings.bytesInMemory),
    returns: createReturns(),
    breaker: createBreaker(),
    startsSlowly: shareOf !== undefined,
    shareOf: async (lane) => (lane.kind === 'node' ? [lane.id] : ((await shareOf?.(lane)) ?? [lane.id])),
    log,
    shouldYield: (heldMs) => state.full && heldMs > settings.sliceMs,
    stopping: stopping.signal,
  };
  const state: State = {
    ground,
    settings,
    lanes: createRunningLanes(),
    bell: createDoorbell(),
    runner,
    vacuum,
    gathering: gathers?.statements ?? plain,
    stopping,
    stopped: new AbortController(),
    full: false,
    cursor: firstProject,
    lost: new Set(),
    failingSince: undefined,
    claimFrom: -Infinity,
  };
  return state;
}

function hint({ lanes, bell }: State, laneId?: string): void {
  if (laneId !== undefined) lanes.poke(laneId);
  bell.ring();
}

async function lookForWork(state: State): Promise<void> {
  const { bell, stopping, settings, ground } = state;
  while (!stopping.signal.aborted) {
    bell.clear();
    try {
      const more = await foldAndClaim(state);
      await sleep(minPauseMs);
      if (more) continue;
    } catch (error) {
      state.failingSince ??= performance.now();
      ground.log.warn({ err: error }, 'looking for work failed; trying again');
    }
    if (!stopping.signal.aborted) await bell.wait(settings.pollMs);
  }
}

/** Answers whether there may be more. */
async function foldAndClaim(state: State): Promise<boolean> {
  const { ground, lanes, settings } = state;
  const folded = await fold(ground.database);
  for (const { id } of folded) lanes.poke(id);
  if (holdersComeFirst(state)) return false;
  const room = roomForLanes(state);
  state.full = room <= 0;
  if (state.full) return false;
  const claimed = await claimDue(ground.database, {
    afterProject: state.cursor,
    limit: Math.min(settings.lanesPerClaim, room),
    leaseMs: settings.leaseMs,
    lost: state.lost,
    gathering: state.gathering,
  });
  for (const one of claimed) {
    lanes.cutFormer(one.lane);
    const running = runLane(one, state.runner);
    lanes.add(running);
    void running.done.finally(() => {
      lanes.delete(running);
      hint(state);
    });
  }
  const wentRound = state.cursor !== firstProject;
  const last = claimed
    .map(({ lane }) => lane.projectId)
    .sort()
    .at(-1);
  state.cursor = last ?? firstProject;
  return claimed.length > 0 || folded.length >= 1_000 || wentRound;
}

/** A lane whose calls are not answered keeps no other out: it costs little more than its lease. */
function roomForLanes({ lanes, settings: { maxLanes } }: State): number {
  const movedSince = performance.now() - stillAfterMs;
  const moving = [...lanes].filter(({ movedAt }) => movedAt > movedSince).length;
  return Math.min(maxLanes - moving, maxLanes * 10 - lanes.size);
}

/**
 * Whether claims have to wait: leases may have run out while nobody could renew them, and their holders live and know
 * outcomes that a rescue would not.
 */
function holdersComeFirst(state: State): boolean {
  const { failingSince, settings } = state;
  const now = performance.now();
  if (failingSince !== undefined && now - failingSince >= settings.leaseMs / 2)
    state.claimFrom = now + headStartMs;
  state.failingSince = undefined;
  return now < state.claimFrom;
}

async function renewLeases({ ground, settings, lanes, stopped }: State): Promise<void> {
  const { leaseMs } = settings;
  let waitMs = leaseMs / 4;
  while (!stopped.signal.aborted) {
    await sleep(waitMs, stopped.signal);
    waitMs = leaseMs / 4;
    const held = [...lanes];
    if (held.length === 0) continue;
    const startedAt = performance.now();
    try {
      const keys = held.map(({ lane }) => lane);
      const kept = await extend(ground.database, keys, leaseMs);
      for (const running of held) {
        if (kept.has(running.lane)) running.leaseEndsAt = startedAt + leaseMs;
        // One that was given back meanwhile is nobody's loss.
        else if (lanes.has(running)) lose(running, ground.log);
      }
    } catch (error) {
      waitMs = Math.min(waitMs, renewAgainMs);
      ground.log.warn({ err: error }, 'leases could not be renewed; trying again');
    }
  }
}

function lose(running: RunningLane, log: Ground['log']): void {
  const { lane } = running;
  log.warn(
    { projectId: lane.projectId, lane: lane.id },
    'the lease of a lane was lost; what is under way there is cut off',
  );
  running.cut();
}

/** Waits until no lane is held and none will be, or until the time is over. */
async function released(
  { lanes }: State,
  looking: Promise<void> | undefined,
  timeoutMs: number,
): Promise<void> {
  const over = new AbortController();
  const all = Promise.all([...[...lanes].map((running) => running.done), looking]);
  await Promise.race([all, sleep(timeoutMs, over.signal)]);
  over.abort();
}

/** Lanes whose items do not even end when they are aborted: their sent rows fall to the next claimer as unknown. */
async function abandonLanes({ lanes, ground, gathering }: State): Promise<void> {
  const left = [...lanes].map(({ lane }) => Object.assign({ blockedMs: 0 }, lane));
  lanes.clear();
  if (left.length === 0) return;
  await giveBack(ground.database, left, gathering).catch((error: unknown) =>
    ground.log.warn({ err: error }, 'lanes were not given back; they fall due when their leases end'),
  );
}
