import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import { attempt, resolveRescued, type Handlers } from './attempt.ts';
import type { Breaker } from './breaker.ts';
import type { Bytes } from './bytes.ts';
import type { Claimed } from './claim.ts';
import { contextOf } from './context.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import type { RetryPolicy } from './next-step.ts';
import type { Pool } from './pool.ts';
import type { Recorder } from './recorder.ts';
import { settle, settleSynchronous } from './settle.ts';
import type { GivenLane } from './store/lanes.ts';
import type { TakeRequest } from './store/items.ts';
import { placeOf, type HeldLane, type ItemResult, type TakenItem, type WorkContext } from './work.ts';

/** Between two looks for auto-batches, so that a stream of acceptances does not become one of seals. */
const sealPauseMs = 50;

/** What a runner needs of its worker; takes and give-backs of all lanes share statements. */
export interface RunnerDeps {
  handlers: Handlers;
  take(request: TakeRequest): Promise<TakenItem[]>;
  rescue(request: TakeRequest): Promise<TakenItem[]>;
  unmark(lane: HeldLane, except: readonly string[]): Promise<void>;
  giveBack(lane: GivenLane): Promise<void>;
  /** Turns auto-batches of the lane that are due or full into items; answers how many. */
  seal(lane: HeldLane): Promise<number>;
  recorder: Recorder;
  /** Of what runs at once. */
  places: Pool;
  /** Of large items in memory. */
  bytes: Bytes;
  withPayloads(item: TakenItem): Promise<TakenItem>;
  breaker: Breaker;
  /** What the calls of a lane share with those of others; those of a share stand or fall together. */
  shareOf(lane: HeldLane): Promise<string>;
  /** Whether handlers tell what they heard, so that a lane may begin with few calls. */
  startsSlowly: boolean;
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
  /** When something of it began or ended last; what only waits for answers does not move. */
  readonly movedAt: number;
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
  /** The lane is to be left: its lease is lost, or nothing more is to be taken. */
  leaving: AbortSignal;
  bell: Doorbell;
  share: string;
  since: number;
  movedAt: number;
  inFlight: Set<string>;
  blockedUntil: number;
  /** There may be items that its former holder sent. */
  rescues: boolean;
  /** The answer to a take was lost: it may have marked items that nobody will send. */
  takeFailed: boolean;
  /** The answer to a rescue was lost: what it has of them falls to the next holder. */
  rescueFailed: boolean;
  /** Auto-batches are looked for from then on. */
  sealAt: number;
  /** Sent, and their outcome could not be recorded: they stay marked for the rescue. */
  unrecorded: string[];
}

/** Works on one claimed lane until it is empty, throttled, lost or its turn is over; then gives it back. */
export function runLane({ lane, leaseEndsAt }: Claimed, deps: RunnerDeps): RunningLane {
  const lease = { leaseEndsAt };
  const cutter = new AbortController();
  const holding: Holding = {
    lane,
    deps,
    context: contextOf(lease, cutter.signal, deps.leaseMs),
    cutter,
    leaving: AbortSignal.any([cutter.signal, deps.stopping]),
    bell: createDoorbell(),
    share: lane.id,
    since: performance.now(),
    movedAt: performance.now(),
    inFlight: new Set(),
    blockedUntil: -Infinity,
    rescues: true,
    takeFailed: false,
    rescueFailed: false,
    sealAt: lane.gathers ? -Infinity : performance.now() + deps.pollMs,
    unrecorded: [],
  };
  const done = work(holding);
  return {
    lane,
    get leaseEndsAt() {
      return lease.leaseEndsAt;
    },
    set leaseEndsAt(at) {
      lease.leaseEndsAt = at;
    },
    get movedAt() {
      return holding.movedAt;
    },
    poke() {
      holding.sealAt = Math.min(holding.sealAt, performance.now() + sealPauseMs);
      holding.bell.ring();
    },
    cut: () => cutter.abort(),
    done,
  };
}

async function work(holding: Holding): Promise<void> {
  const { lane, deps, inFlight, bell } = holding;
  // Without an answer it shares with nobody.
  holding.share = await deps.shareOf(lane).catch(() => lane.id);
  let empty = false;
  for (;;) {
    if (performance.now() >= holding.sealAt && mayTake(holding)) {
      await sealSome(holding);
      empty = false;
    }
    // A take for every single place that falls free would be a statement for every item.
    if (!empty && inFlight.size <= mostAtOnce(holding) / 2 && mayTake(holding)) {
      empty = await (holding.rescues ? rescueSome(holding) : takeSome(holding));
      continue;
    }
    if (inFlight.size === 0) break;
    await bell.wait(deps.pollMs);
    empty = false;
  }
  await leave(holding);
}

/** In the lane of a node that is gone stand calls to many hosts, and none of them is sent from here. */
function isNodes({ lane }: Holding): boolean {
  return lane.kind === 'node';
}

function mostAtOnce(holding: Holding): number {
  const { lane, deps, share } = holding;
  if (isNodes(holding) || !deps.startsSlowly) return deps.itemsPerLane;
  return deps.breaker.isProbing(share) ? 1 : Math.min(deps.itemsPerLane, deps.breaker.mostOf(lane.id));
}

function mayTake({ deps, context, since, blockedUntil, takeFailed, rescueFailed }: Holding): boolean {
  const now = performance.now();
  return (
    !takeFailed &&
    !rescueFailed &&
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
async function rescueSome(holding: Holding): Promise<boolean> {
  const { lane, deps, inFlight } = holding;
  // Beside what is sent: a host that rests is asked all the same what became of this.
  const share = `rescue ${holding.share}`;
  const room = await deps.places.acquire(share, 1, deps.itemsPerLane - inFlight.size, holding.leaving);
  if (room === 0) return true;
  const items = await deps.rescue({ ...lane, room }).catch((error: unknown) => {
    deps.log.warn({ err: error, lane: lane.id }, 'rescuing items failed; the lane goes back');
    holding.rescueFailed = true;
    return [];
  });
  deps.places.release(share, room - items.length);
  for (const { projectId, operationId, request } of items)
    deps.log.warn(
      { projectId, ...placeOf(request), operationId, lane: lane.id },
      'taken over from a node that is gone',
    );
  for (const item of items) start(holding, item, resolveRescued, () => deps.places.release(share, 1));
  holding.rescues = items.length === room;
  // Nothing else is taken before they are all known.
  return false;
}

/** Answers whether there was less than asked for, or nothing may be sent now. */
async function takeSome(holding: Holding): Promise<boolean> {
  const { lane, deps, share, inFlight, bell } = holding;
  bell.clear();
  const { places, breaker } = deps;
  const wanted = mostAtOnce(holding) - inFlight.size;
  if (wanted <= 0 || rests(holding)) return true;
  if (!isNodes(holding) && breaker.isProbing(share)) breaker.probe(share, lane.id);
  const room = await places.acquire(share, 1, wanted, holding.leaving);
  if (room === 0) {
    breaker.giveUp(share, lane.id);
    rests(holding);
    return true;
  }
  const items = await deps.take({ ...lane, room }).catch((error: unknown) => {
    deps.log.warn({ err: error, lane: lane.id }, 'taking items failed; the lane goes back');
    holding.takeFailed = true;
    return [];
  });
  places.release(share, room - items.length);
  if (items.length === 0) breaker.giveUp(share, lane.id);
  // In the lane of a node that is gone stand synchronous writes that nobody sends again.
  const run = isNodes(holding) ? resolveRescued : attempt;
  for (const item of items) start(holding, item, run, () => places.release(share, 1));
  return items.length < room && !bell.rung();
}

/** Whether the share has to rest; then the lane waits as long. */
function rests(holding: Holding): boolean {
  const restMs = isNodes(holding) ? 0 : holding.deps.breaker.restMs(holding.share);
  if (restMs > 0) holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + restMs);
  return restMs > 0;
}

function start(holding: Holding, item: TakenItem, run: typeof attempt, release: () => void): void {
  const { inFlight, deps } = holding;
  holding.movedAt = performance.now();
  inFlight.add(item.seq);
  void finishItem(holding, item, run)
    .catch((error: unknown) => {
      holding.unrecorded.push(item.seq);
      const { operationId, projectId } = item;
      deps.log.error(
        { err: error, projectId, operationId },
        'an outcome could not be recorded; it will be rescued',
      );
    })
    .finally(() => {
      inFlight.delete(item.seq);
      holding.movedAt = performance.now();
      release();
      holding.bell.ring();
    });
}

async function finishItem(holding: Holding, item: TakenItem, run: typeof attempt): Promise<void> {
  const { deps, cutter } = holding;
  if (item.unreadBytes === 0) return finishWhole(holding, item, run);
  const reserved = await deps.bytes.reserve(holding.share, item.unreadBytes, holding.leaving);
  const whole = reserved && (await deps.withPayloads(item).catch(() => undefined));
  try {
    if (whole) return await finishWhole(holding, whole, run);
    // What somebody else had sent is left to the next holder as it is; the rest was not sent, and waits.
    if (run === resolveRescued) throw new Error('its payloads could not be read');
    const unsent = settle(item, { kind: 'postponed', inMs: 0 }, deps.policy);
    await deps.recorder.record(unsent, cutter.signal);
  } finally {
    reserved?.release();
  }
}

async function finishWhole(holding: Holding, item: TakenItem, run: typeof attempt): Promise<void> {
  const { deps, cutter, lane } = holding;
  const result = await run(item, deps.handlers, holding.context);
  note(holding, result);
  if (result.kind === 'throttled') {
    holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + result.inMs);
  }
  const settled = (lane.kind === 'node' ? settleSynchronous : settle)(item, result, deps.policy);
  const kept = await deps.recorder.record(settled, cutter.signal);
  if (kept) return;
  deps.log.warn(
    { projectId: item.projectId, operationId: item.operationId },
    'an outcome came after the lease was lost and was refused',
  );
}

/** What was cut off by us says nothing of the other side. */
function note(holding: Holding, { heard }: ItemResult): void {
  const { deps, share, lane, cutter } = holding;
  if (isNodes(holding)) return;
  if (heard === undefined || cutter.signal.aborted) return deps.breaker.giveUp(share, lane.id);
  const rested = deps.breaker.restMs(share);
  deps.breaker.heard(share, lane.id, heard);
  const restMs = deps.breaker.restMs(share);
  if (restMs === 0) return;
  deps.places.turnAway(share);
  if (restMs > rested)
    deps.log.warn(
      { projectId: lane.projectId, lane: lane.id, share, restMs },
      'nothing was answered; calls there rest',
    );
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
