import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import { attempt, resolveRescued, type Handlers } from './attempt.ts';
import type { Claimed } from './claim.ts';
import { contextOf } from './context.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import type { RetryPolicy } from './next-step.ts';
import type { Permits } from './permits.ts';
import type { Recorder } from './recorder.ts';
import { settle, settleSynchronous } from './settle.ts';
import type { GivenLane } from './store/lanes.ts';
import type { TakeRequest } from './store/items.ts';
import type { HeldLane, ItemResult, TakenItem, WorkContext } from './work.ts';

/** Between two looks for auto-batches, so that a stream of acceptances does not become one of seals. */
const sealPauseMs = 50;

/** What a runner needs of its worker; takes and give-backs of all lanes share statements. */
export interface RunnerDeps {
  handlers: Handlers;
  take(request: TakeRequest): Promise<TakenItem[]>;
  unmark(lane: HeldLane, except: readonly string[]): Promise<void>;
  giveBack(lane: GivenLane): Promise<void>;
  /** Turns auto-batches of the lane that are due or full into items; answers how many. */
  seal(lane: HeldLane): Promise<number>;
  recorder: Recorder;
  permits: Permits;
  policy: RetryPolicy;
  log: Logger;
  leaseMs: number;
  itemsPerLane: number;
  /** A lane looks for new items by itself this often while others of its items are on their way. */
  pollMs: number;
  /** Whether the lane should be given back although it may hold more, for the sake of others. */
  shouldYield(heldSinceMs: number): boolean;
  stopping: AbortSignal;
}

/** A lane being worked on. `leaseEndsAt` is monotonic and moved by the worker. */
export interface RunningLane {
  readonly lane: HeldLane;
  leaseEndsAt: number;
  /** There may be new items. */
  poke(): void;
  /** The lease is lost, or time is up: what is under way is aborted. */
  cut(): void;
  /** Resolves when the lane was given back, or lost. */
  readonly done: Promise<void>;
}

/** The state of one holding. Times are monotonic. */
interface Holding {
  lane: HeldLane;
  deps: RunnerDeps;
  context: WorkContext;
  cutter: AbortController;
  bell: Doorbell;
  since: number;
  inFlight: Set<string>;
  blockedUntil: number;
  /** The answer to a take was lost: it may have marked items that nobody will send. */
  takeFailed: boolean;
  /** Auto-batches are looked for from then on. */
  sealAt: number;
  /** Sent, and their outcome could not be recorded: they stay marked for the rescue. */
  unrecorded: string[];
}

/** Works on one claimed lane until it is empty, throttled, lost or its turn is over; then gives it back. */
export function runLane({ lane, leaseEndsAt, rescued }: Claimed, deps: RunnerDeps): RunningLane {
  const lease = { leaseEndsAt };
  const cutter = new AbortController();
  const holding: Holding = {
    lane,
    deps,
    context: contextOf(lease, cutter.signal, deps.leaseMs),
    cutter,
    bell: createDoorbell(),
    since: performance.now(),
    inFlight: new Set(),
    blockedUntil: -Infinity,
    takeFailed: false,
    sealAt: lane.gathers ? -Infinity : performance.now() + deps.pollMs,
    unrecorded: [],
  };
  const done = work(holding, rescued);
  return {
    lane,
    get leaseEndsAt() {
      return lease.leaseEndsAt;
    },
    set leaseEndsAt(at) {
      lease.leaseEndsAt = at;
    },
    poke() {
      holding.sealAt = Math.min(holding.sealAt, performance.now() + sealPauseMs);
      holding.bell.ring();
    },
    cut: () => cutter.abort(),
    done,
  };
}

async function work(holding: Holding, rescued: TakenItem[]): Promise<void> {
  const { deps, context, inFlight, bell } = holding;
  for (const item of rescued) start(holding, item, () => resolveRescued(item, deps.handlers, context));
  let empty = false;
  for (;;) {
    if (performance.now() >= holding.sealAt && mayTake(holding)) {
      await sealSome(holding);
      empty = false;
    }
    // A take for every single place that falls free would be a statement for every item.
    if (!empty && inFlight.size <= deps.itemsPerLane / 2 && mayTake(holding)) {
      empty = await takeSome(holding);
      continue;
    }
    if (inFlight.size === 0) break;
    await bell.wait(deps.pollMs);
    empty = false;
  }
  await leave(holding);
}

function mayTake({ deps, context, since, blockedUntil, takeFailed }: Holding): boolean {
  const now = performance.now();
  return (
    !takeFailed &&
    !deps.stopping.aborted &&
    now >= blockedUntil &&
    context.mayStillSend() &&
    !deps.shouldYield(now - since)
  );
}

/** A lane whose batches cannot be sealed goes back and rests for a moment. */
async function sealSome(holding: Holding): Promise<void> {
  const { lane, deps } = holding;
  try {
    const sealed = await deps.seal(lane);
    holding.sealAt = performance.now() + (sealed > 0 ? sealPauseMs : deps.pollMs);
  } catch (error) {
    deps.log.warn({ err: error, lane: lane.id }, 'sealing auto-batches failed; the lane goes back');
    holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + 1_000);
  }
}

/** Answers whether there was less than asked for. */
async function takeSome(holding: Holding): Promise<boolean> {
  const { lane, deps, inFlight, bell, cutter } = holding;
  bell.clear();
  const room = await deps.permits.acquire(deps.itemsPerLane - inFlight.size, cutter.signal);
  if (room === 0) return true;
  const items = await deps.take({ ...lane, room }).catch((error: unknown) => {
    deps.log.warn({ err: error, lane: lane.id }, 'taking items failed; the lane goes back');
    holding.takeFailed = true;
    return [];
  });
  deps.permits.release(room - items.length);
  // In the lane of a node that is gone stand synchronous writes that nobody sends again.
  const run = lane.kind === 'node' ? resolveRescued : attempt;
  for (const item of items) {
    start(
      holding,
      item,
      () => run(item, deps.handlers, holding.context),
      () => deps.permits.release(1),
    );
  }
  return items.length < room && !bell.rung();
}

function start(
  holding: Holding,
  item: TakenItem,
  run: () => Promise<ItemResult>,
  release?: () => void,
): void {
  const { inFlight, deps } = holding;
  inFlight.add(item.seq);
  void finishItem(holding, item, run)
    .catch((error: unknown) => {
      holding.unrecorded.push(item.seq);
      const { operationId: operation } = item;
      deps.log.error({ err: error, operation }, 'an outcome could not be recorded; it will be rescued');
    })
    .finally(() => {
      inFlight.delete(item.seq);
      release?.();
      holding.bell.ring();
    });
}

async function finishItem(holding: Holding, item: TakenItem, run: () => Promise<ItemResult>): Promise<void> {
  const { deps, cutter, lane } = holding;
  const result = await run();
  if (result.kind === 'throttled') {
    holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + result.inMs);
  }
  const settled = (lane.kind === 'node' ? settleSynchronous : settle)(item, result, deps.policy);
  const kept = await deps.recorder.record(settled, cutter.signal);
  if (kept) return;
  deps.log.warn({ operation: item.operationId }, 'an outcome came after the lease was lost and was refused');
}

/** Tried again while the lease holds: a lane that is not given back rests until its lease ends. */
async function leave(holding: Holding): Promise<void> {
  const { lane, deps, context, takeFailed, unrecorded, blockedUntil } = holding;
  for (;;) {
    try {
      if (takeFailed) await deps.unmark(lane, unrecorded);
      await deps.giveBack({ ...lane, blockedMs: Math.max(0, blockedUntil - performance.now()) });
      return;
    } catch (error) {
      deps.log.warn({ err: error, lane: lane.id }, 'a lane could not be given back');
      if (deps.stopping.aborted || !context.mayStillSend()) return;
      await sleep(deps.pollMs, deps.stopping);
    }
  }
}
