import { createGroupCommit } from '../kit/group-commit.ts';
import type { Ground } from '../kit/ground.ts';
import { sleep } from '../kit/retry.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createInstallationStatus } from './installation-status.ts';
import { createListener, type Listener } from './hints.ts';
import { runLane, type RunnerDeps, type RunningLane } from './lane-runner.ts';
import { claimDue, type Claimed } from './claim.ts';
import { defaultRetryPolicy, type RetryPolicy } from './next-step.ts';
import { createPermits } from './permits.ts';
import { createRecorder } from './recorder.ts';
import { take, unmark, type TakeRequest } from './store/items.ts';
import { extend, firstProject, fold, giveBack, type GivenLane } from './store/lanes.ts';
import type { TakenItem, WorkHandler } from './work.ts';

export interface WorkerOptions {
  /** By action type. */
  handlers: Record<string, WorkHandler>;
  /** How long a claim holds without renewal; a dead node's work is taken over after it. */
  leaseMs?: number;
  /** Looks for work this often when nobody announces any; at most 2 s. */
  pollMs?: number;
  lanesPerClaim?: number;
  maxLanes?: number;
  /** Items being done at once, over all lanes, and in one lane. */
  maxConcurrentItems?: number;
  itemsPerLane?: number;
  /** With `maxLanes` held, a lane goes back after this long, so that others have their turn. */
  sliceMs?: number;
  retryPolicy?: Partial<RetryPolicy>;
}

export interface Worker {
  start(): Promise<void>;
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
  maxConcurrentItems: 200,
  itemsPerLane: 20,
  sliceMs: 2_000,
};
/** Between two looks for work, so that a stream of hints does not become a stream of claims. */
const minPauseMs = 5;
/** For recording what was aborted, after the deadline of a stop. */
const graceMs = 1_500;

/** Takes over the lanes of this database, together with any number of workers like it on other nodes. */
export function createWorker(ground: Ground, options: WorkerOptions): Worker {
  const { database, log } = ground;
  const settings = { ...defaults, ...withoutUndefined(options) };
  const { leaseMs, maxLanes } = settings;
  const pollMs = Math.min(settings.pollMs, 2_000);
  const lanes = new Map<string, RunningLane>();
  /** No new work; then: nothing is held any more. */
  const stopping = new AbortController();
  const stopped = new AbortController();
  const housekeeping = createHousekeeping(database, log);
  const installationStatus = createInstallationStatus(database, log);
  const deps = runnerDeps();
  let listener: Listener | undefined;
  let looking: Promise<unknown> = Promise.resolve();
  let renewing: Promise<unknown> = Promise.resolve();
  let full = false;
  let cursor = firstProject;
  let wake: () => void = () => undefined;
  let hinted = false;

  function runnerDeps(): RunnerDeps {
    const shared = { maxInFlight: 2, maxWaiting: Number.MAX_SAFE_INTEGER, bisectOn: () => false };
    const takes = createGroupCommit<TakeRequest, TakenItem[]>({
      ...shared,
      maxGroup: 50,
      commit: async (requests) => {
        const taken = await take(database, requests);
        return requests.map(({ id }) => taken.filter((item) => item.laneId === id));
      },
    });
    const givings = createGroupCommit<GivenLane, void>({
      ...shared,
      maxGroup: 50,
      commit: async (given) => {
        await giveBack(database, given);
        return given.map(() => undefined);
      },
    });
    return {
      handlers: options.handlers,
      take: takes.submit,
      giveBack: givings.submit,
      unmark: (lane, except) => unmark(database, lane, except),
      recorder: createRecorder({
        database,
        metrics: ground.metrics,
        onEnded: (ended) => {
          housekeeping.completed(ended.length);
          installationStatus.note(ended);
        },
      }),
      permits: createPermits(settings.maxConcurrentItems),
      policy: { ...defaultRetryPolicy, ...options.retryPolicy },
      log,
      leaseMs,
      itemsPerLane: settings.itemsPerLane,
      pollMs,
      shouldYield: (heldMs) => full && heldMs > settings.sliceMs,
      stopping: stopping.signal,
    };
  }

  function hint(laneId?: string): void {
    if (laneId !== undefined) lanes.get(laneId)?.poke();
    hinted = true;
    wake();
  }

  async function lookForWork(): Promise<void> {
    while (!stopping.signal.aborted) {
      hinted = false;
      try {
        const found = await foldAndClaim();
        await sleep(minPauseMs);
        if (found || hinted) continue;
      } catch (error) {
        log.warn({ err: error }, 'looking for work failed; trying again');
      }
      await restUntilHint();
    }
  }

  function restUntilHint(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (stopping.signal.aborted) wake();
    });
  }

  /** Answers whether there may be more. */
  async function foldAndClaim(): Promise<boolean> {
    const folded = await fold(database);
    for (const { id } of folded) lanes.get(id)?.poke();
    full = lanes.size >= maxLanes;
    if (full) return false;
    const claimed = await claimDue(database, {
      afterProject: cursor,
      limit: Math.min(settings.lanesPerClaim, maxLanes - lanes.size),
      leaseMs,
    });
    for (const one of claimed) run(one);
    const wentRound = cursor !== firstProject;
    cursor =
      claimed
        .map(({ lane }) => lane.projectId)
        .sort()
        .at(-1) ?? firstProject;
    return claimed.length > 0 || folded.length >= 1_000 || wentRound;
  }

  function run({ lane, leaseEndsAt, rescued }: Claimed): void {
    const running = runLane(lane, leaseEndsAt, rescued, deps);
    lanes.set(lane.id, running);
    void running.done.finally(() => {
      if (lanes.get(lane.id) === running) lanes.delete(lane.id);
      hint();
    });
  }

  async function renewLeases(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(leaseMs / 4, stopped.signal);
      const held = [...lanes.values()];
      if (held.length === 0) continue;
      const startedAt = performance.now();
      try {
        const kept = new Set(
          (
            await extend(
              database,
              held.map(({ lane }) => lane),
              leaseMs,
            )
          ).map(({ id }) => id),
        );
        for (const running of held) {
          if (kept.has(running.lane.id)) running.leaseEndsAt = startedAt + leaseMs;
          else running.cut();
        }
      } catch (error) {
        log.warn({ err: error }, 'leases could not be renewed; trying again');
      }
    }
  }

  return {
    hint,
    async start() {
      await housekeeping.start();
      listener = createListener(database.url, log, () => hint());
      looking = lookForWork();
      renewing = renewLeases();
    },
    async stop(deadlineMs) {
      stopping.abort();
      wake();
      for (const running of lanes.values()) running.poke();
      await settled(deadlineMs);
      for (const running of lanes.values()) running.cut();
      await settled(graceMs);
      await abandon();
      stopped.abort();
      await renewing;
      await listener?.close();
      await installationStatus.close();
      await housekeeping.stop();
    },
  };

  /** Waits until no lane is held and none will be. */
  async function settled(timeoutMs: number): Promise<void> {
    const done = new AbortController();
    const all = Promise.all([...[...lanes.values()].map((running) => running.done), looking]);
    await Promise.race([all.then(() => done.abort()), sleep(timeoutMs, done.signal)]);
    done.abort();
  }

  /** Lanes whose handlers do not even end when they are aborted: their sent rows fall to the next claimer as unknown. */
  async function abandon(): Promise<void> {
    const left = [...lanes.values()].map(({ lane }) => ({ ...lane, blockedMs: 0 }));
    lanes.clear();
    if (left.length === 0) return;
    await giveBack(database, left).catch((error: unknown) =>
      log.warn({ err: error }, 'lanes were not given back'),
    );
  }
}

function withoutUndefined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
