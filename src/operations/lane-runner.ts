import { crashPoint } from '../kit/crash-point.ts';
import type { Logger } from '../kit/log.ts';
import { contextOf } from './context.ts';
import type { RetryPolicy } from './next-step.ts';
import type { Permits } from './permits.ts';
import type { Recorder } from './recorder.ts';
import { allOutcomes, deadlinePassed, settle, unknownOutcome } from './settle.ts';
import type { GivenLane } from './store/lanes.ts';
import type { TakeRequest } from './store/items.ts';
import type { HeldLane, ItemResult, TakenItem, WorkContext, WorkHandler } from './work.ts';

/** What a runner needs of its worker; takes and give-backs of all lanes share statements. */
export interface RunnerDeps {
  handlers: Record<string, WorkHandler>;
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

/** Works on one claimed lane until it is empty, throttled, lost or its turn is over; then gives it back. */
export function runLane(
  lane: HeldLane,
  leaseEndsAt: number,
  rescued: TakenItem[],
  deps: RunnerDeps,
): RunningLane {
  const cutter = new AbortController();
  const inFlight = new Map<string, Promise<void>>();
  const heldSince = performance.now();
  let wakeUp: () => void = () => undefined;
  let pokedSince = false;
  let blockedUntil = -Infinity;
  let takeFailed = false;
  const unrecorded: string[] = [];

  const running: RunningLane = {
    lane,
    leaseEndsAt,
    poke() {
      pokedSince = true;
      wakeUp();
    },
    cut: () => cutter.abort(),
    // Starts after this object is complete: the runner reads leaseEndsAt from it.
    done: Promise.resolve().then(run),
  };
  const context = contextOf(running, cutter.signal, deps.leaseMs);

  function mayTake(): boolean {
    return (
      lane.kind !== 'node' &&
      !takeFailed &&
      !deps.stopping.aborted &&
      performance.now() >= blockedUntil &&
      context.mayStillSend() &&
      !deps.shouldYield(performance.now() - heldSince)
    );
  }

  async function run(): Promise<void> {
    for (const item of rescued) start(item, () => resolveRescued(item, context, deps));
    let empty = false;
    for (;;) {
      // A take for every single place that falls free would be a statement for every item.
      if (!empty && mayTake() && inFlight.size <= deps.itemsPerLane / 2) {
        empty = await takeSome();
        continue;
      }
      if (inFlight.size === 0) break;
      await somethingHappened();
      empty = false;
    }
    await leave();
  }

  /** Answers whether there was less than asked for. */
  async function takeSome(): Promise<boolean> {
    pokedSince = false;
    const room = await deps.permits.acquire(deps.itemsPerLane - inFlight.size, cutter.signal);
    if (room === 0) return true;
    const items = await deps.take({ ...lane, room }).catch((error: unknown) => {
      deps.log.warn({ err: error, lane: lane.id }, 'taking items failed; the lane goes back');
      takeFailed = true;
      return [];
    });
    deps.permits.release(room - items.length);
    for (const item of items) start(item, () => attempt(item, context, deps), 1);
    return items.length < room && !pokedSince;
  }

  function start(item: TakenItem, work: () => Promise<ItemResult>, permits = 0): void {
    const flight = finishItem(item, work)
      .catch((error: unknown) => {
        unrecorded.push(item.seq);
        deps.log.error(
          { err: error, operation: item.operationId },
          'an outcome could not be recorded; it will be rescued',
        );
      })
      .finally(() => {
        inFlight.delete(item.seq);
        deps.permits.release(permits);
        wakeUp();
      });
    inFlight.set(item.seq, flight);
  }

  async function finishItem(item: TakenItem, work: () => Promise<ItemResult>): Promise<void> {
    const result = await work();
    if (result.kind === 'throttled') blockedUntil = Math.max(blockedUntil, performance.now() + result.inMs);
    const kept = await deps.recorder.record(settle(item, result, deps.policy), cutter.signal);
    if (!kept)
      deps.log.warn(
        { operation: item.operationId },
        'an outcome came after the lease was lost and was refused',
      );
  }

  function somethingHappened(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deps.pollMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      if (pokedSince) wakeUp();
      pokedSince = false;
    });
  }

  async function leave(): Promise<void> {
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

  return running;
}

async function attempt(item: TakenItem, context: WorkContext, deps: RunnerDeps): Promise<ItemResult> {
  if (item.expired) return allOutcomes(item, deadlinePassed(item.attempt));
  const handler = deps.handlers[item.actionType];
  // A newer node's kind of work, during a rolling upgrade: that node will take it.
  if (!handler) return { kind: 'postponed', inMs: 60_000 };
  if (!context.mayStillSend()) return { kind: 'postponed', inMs: 0 };
  const result = await guarded(item, () => handler.execute([item], context));
  crashPoint('after-send');
  return result;
}

function resolveRescued(item: TakenItem, context: WorkContext, deps: RunnerDeps): Promise<ItemResult> {
  const handler = deps.handlers[item.actionType];
  const lost = allOutcomes(
    item,
    unknownOutcome('the node that sent it stopped before the answer was recorded; it was not sent again'),
  );
  if (!handler?.resolveUnknown) return Promise.resolve(lost);
  return guarded(item, () => handler.resolveUnknown?.([item], context) ?? Promise.resolve([lost]));
}

/** What a handler throws, or leaves out, may have happened after the first byte. */
async function guarded(item: TakenItem, work: () => Promise<ItemResult[]>): Promise<ItemResult> {
  try {
    const [result] = await work();
    return result ?? allOutcomes(item, unknownOutcome('no outcome was reported'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return allOutcomes(item, unknownOutcome(`the attempt broke off: ${reason}`));
  }
}
