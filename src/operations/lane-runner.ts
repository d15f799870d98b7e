import type { Logger } from '../kit/log.ts';
import { attempt, resolveRescued, type Handlers } from './attempt.ts';
import type { Claimed } from './claim.ts';
import { contextOf } from './context.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import type { RetryPolicy } from './next-step.ts';
import type { Permits } from './permits.ts';
import type { Recorder } from './recorder.ts';
import { settle } from './settle.ts';
import type { GivenLane } from './store/lanes.ts';
import type { TakeRequest } from './store/items.ts';
import type { HeldLane, ItemResult, TakenItem, WorkContext } from './work.ts';

/** What a runner needs of its worker; takes and give-backs of all lanes share statements. */
export interface RunnerDeps {
  handlers: Handlers;
  take(request: TakeRequest): Promise<TakenItem[]>;
  unmark(lane: HeldLane, except: readonly string[]): Promise<void>;
  giveBack(lane: GivenLane): Promise<void>;
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
    poke: () => holding.bell.ring(),
    cut: () => cutter.abort(),
    done,
  };
}

async function work(holding: Holding, rescued: TakenItem[]): Promise<void> {
  const { deps, context, inFlight, bell } = holding;
  for (const item of rescued) start(holding, item, () => resolveRescued(item, deps.handlers, context));
  let empty = false;
  for (;;) {
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

function mayTake({ lane, deps, context, since, blockedUntil, takeFailed }: Holding): boolean {
  const now = performance.now();
  return (
    lane.kind !== 'node' &&
    !takeFailed &&
    !deps.stopping.aborted &&
    now >= blockedUntil &&
    context.mayStillSend() &&
    !deps.shouldYield(now - since)
  );
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
  for (const item of items) {
    start(
      holding,
      item,
      () => attempt(item, deps.handlers, holding.context),
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
  const { deps, cutter } = holding;
  const result = await run();
  if (result.kind === 'throttled') {
    holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + result.inMs);
  }
  const kept = await deps.recorder.record(settle(item, result, deps.policy), cutter.signal);
  if (kept) return;
  deps.log.warn({ operation: item.operationId }, 'an outcome came after the lease was lost and was refused');
}

async function leave({ lane, deps, takeFailed, unrecorded, blockedUntil }: Holding): Promise<void> {
  try {
    if (takeFailed) await deps.unmark(lane, unrecorded);
    await deps.giveBack({ ...lane, blockedMs: Math.max(0, blockedUntil - performance.now()) });
  } catch (error) {
    deps.log.warn(
      { err: error, lane: lane.id },
      'a lane could not be given back; it falls due when its lease ends',
    );
  }
}
