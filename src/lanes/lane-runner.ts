import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import { inSpan, type SpanStart } from '../kit/trace.ts';
import type { Breaker } from './breaker.ts';
import type { Bytes } from './bytes.ts';
import type { Claimed } from './claim.ts';
import { contextOf } from './context.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import type { Finished, Job } from './jobs.ts';
import type { WorkContext } from './kind.ts';
import type { Pool, Share } from './pool.ts';
import type { Returns } from './returns.ts';
import type { SharedStatements } from './shared-statements.ts';
import type { GivenLane, HeldLane } from './store/lanes.ts';

/** Between two looks at what gathers, so that a stream of acceptances does not become one of looks. */
const preparePauseMs = 50;

/** A lane that finds no place for so long goes back: thousands that wait for one host would keep all others from being claimed. */
const placeWithinMs = 1_000;
/** After a failure to make work of what gathers the next try comes so much later. */
const unpreparedMs = 1_000;

/** What a runner needs of its worker; takes and give-backs of all lanes share statements. */
export interface RunnerDeps extends SharedStatements {
  giveBackUnmarked(lane: GivenLane, except: readonly string[]): Promise<void>;
  /** Of what runs at once. */
  places: Pool;
  /** Of lanes that found no place. */
  returns: Returns;
  /** Of large items in memory. */
  bytes: Bytes;
  breaker: Breaker;
  /** What the calls of a lane share with those of others; those of its last part, a host, stand or fall together. */
  shareOf(lane: HeldLane): Promise<Share>;
  /** Whether kinds tell what they heard, so that a lane may begin with few calls. */
  startsSlowly: boolean;
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
  share: Share;
  /** The last of it. */
  host: string;
  since: number;
  movedAt: number;
  /** Of one row there may be two: an attempt whose record is repeated, and the next one. */
  inFlight: Set<Job>;
  blockedUntil: number;
  /** There may be items that its former holder sent. */
  rescues: boolean;
  /** The answer to a take was lost: it may have marked items that nobody will send. */
  takeFailed: boolean;
  /** The answer to a rescue was lost: what it has of them falls to the next holder. */
  rescueFailed: boolean;
  /** What gathers is looked at from then on. */
  prepareAt: number;
  prepareFailed: boolean;
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
    share: [lane.id],
    host: lane.id,
    since: performance.now(),
    movedAt: performance.now(),
    inFlight: new Set(),
    blockedUntil: -Infinity,
    rescues: true,
    takeFailed: false,
    rescueFailed: false,
    prepareAt: lane.gathers ? -Infinity : performance.now() + deps.pollMs,
    prepareFailed: false,
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
      holding.prepareAt = Math.min(holding.prepareAt, performance.now() + preparePauseMs);
      holding.bell.ring();
    },
    cut: () => cutter.abort(),
    done,
  };
}

async function work(holding: Holding): Promise<void> {
  const { lane, deps, inFlight, bell } = holding;
  // Without an answer it shares with nobody.
  holding.share = await deps.shareOf(lane).catch((): Share => [lane.id]);
  holding.host = holding.share.at(-1) ?? lane.id;
  let empty = false;
  for (;;) {
    if (performance.now() >= holding.prepareAt && mayTake(holding)) {
      await prepareSome(holding);
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
  const { lane, deps, host } = holding;
  if (isNodes(holding) || !deps.startsSlowly) return deps.itemsPerLane;
  return deps.breaker.isProbing(host) ? 1 : Math.min(deps.itemsPerLane, deps.breaker.mostOf(lane.id));
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

/** What is work already is done all the same where gathered things cannot be made work. */
async function prepareSome(holding: Holding): Promise<void> {
  const { lane, deps } = holding;
  try {
    const prepared = await deps.prepare(lane);
    holding.prepareAt = performance.now() + (prepared > 0 ? preparePauseMs : deps.pollMs);
    holding.prepareFailed = false;
  } catch (error) {
    deps.log.warn({ err: error, lane: lane.id }, 'what gathers could not be made work; it is tried again');
    holding.prepareAt = performance.now() + unpreparedMs;
    holding.prepareFailed = true;
  }
}

/** Answers whether there was less than asked for. */
async function rescueSome(holding: Holding): Promise<boolean> {
  const { lane, deps, inFlight } = holding;
  // Beside what is sent: a host that rests is asked all the same what became of this.
  const share = holding.share.map((name) => `rescue ${name}`);
  const room = await deps.places.acquire(share, 1, deps.itemsPerLane - inFlight.size, holding.leaving);
  if (room === 0) return true;
  const jobs = await deps.rescue({ ...lane, room }).catch((error: unknown): Job[] => {
    deps.log.warn({ err: error, lane: lane.id }, 'rescuing items failed; the lane goes back');
    holding.rescueFailed = true;
    return [];
  });
  deps.places.release(share, room - jobs.length);
  for (const { about } of jobs)
    deps.log.warn({ ...about, lane: lane.id }, 'taken over from a node that is gone');
  for (const job of jobs) start(holding, job, 'rescue', () => deps.places.release(share, 1));
  holding.rescues = jobs.length === room;
  // Nothing else is taken before they are all known.
  return false;
}

/** Answers whether there was less than asked for, or nothing may be sent now. */
async function takeSome(holding: Holding): Promise<boolean> {
  const { lane, deps, share, host, inFlight, bell } = holding;
  bell.clear();
  const { places, breaker, returns } = deps;
  const wanted = mostAtOnce(holding) - inFlight.size;
  if (wanted <= 0 || rests(holding)) return true;
  if (!isNodes(holding) && breaker.isProbing(host)) breaker.probe(host, lane.id);
  const room = await places.acquire(share, 1, wanted, holding.leaving, placeWithinMs);
  if (room === 0) {
    breaker.giveUp(host, lane.id);
    if (!rests(holding) && !holding.leaving.aborted) block(holding, returns.inMs(lane.id));
    return true;
  }
  returns.found(lane.id);
  const jobs = await deps.take({ ...lane, room }).catch((error: unknown): Job[] => {
    deps.log.warn({ err: error, lane: lane.id }, 'taking items failed; the lane goes back');
    holding.takeFailed = true;
    return [];
  });
  places.release(share, room - jobs.length);
  if (jobs.length === 0) breaker.giveUp(host, lane.id);
  // In the lane of a node that is gone stand things that nobody starts again.
  const how = isNodes(holding) ? 'rescue' : 'run';
  for (const job of jobs) start(holding, job, how, () => places.release(share, 1));
  return jobs.length < room && !bell.rung();
}

/** Whether the share has to rest; then the lane waits as long. */
function rests(holding: Holding): boolean {
  const restMs = isNodes(holding) ? 0 : holding.deps.breaker.restMs(holding.host);
  if (restMs > 0) block(holding, restMs);
  return restMs > 0;
}

/** Nothing more of the lane is taken for so long. */
function block(holding: Holding, forMs: number): void {
  holding.blockedUntil = Math.max(holding.blockedUntil, performance.now() + forMs);
}

/** What is done with a job: an attempt, or finding out what became of one. */
type How = 'run' | 'rescue';

function start(holding: Holding, job: Job, how: How, release: () => void): void {
  const { inFlight, deps } = holding;
  const { seq } = job.marked;
  holding.movedAt = performance.now();
  inFlight.add(job);
  void inSpan(spanOf(holding, job, how), () => finish(holding, job, how))
    .catch((error: unknown) => {
      holding.unrecorded.push(seq);
      deps.log.error({ ...job.about, err: error }, 'an outcome could not be recorded; it will be rescued');
    })
    .finally(() => {
      inFlight.delete(job);
      holding.movedAt = performance.now();
      release();
      holding.bell.ring();
    });
}

/** An attempt, as part of the trace of who queued the work; of a trace of its own where nobody did. */
function spanOf({ lane }: Holding, { marked }: Job, how: How): SpanStart {
  return {
    name: `${how} ${marked.kind}`,
    kind: 'work',
    parent: marked.trace ?? '',
    attributes: {
      'svc.project_id': marked.projectId,
      'svc.work_ref': marked.ref,
      'svc.attempt': marked.attempt,
      'svc.lane': lane.id,
    },
  };
}

async function finish(holding: Holding, job: Job, how: How): Promise<void> {
  const { deps } = holding;
  if (job.unreadBytes === 0) return finishWhole(holding, job, how);
  const reserved = await deps.bytes.reserve(holding.share, job.unreadBytes, holding.leaving);
  const whole = reserved && (await job.read().catch(() => undefined));
  try {
    if (whole) return await finishWhole(holding, whole, how);
    // What somebody else had sent is left to the next holder as it is; the rest was not sent, and waits.
    if (how === 'rescue') throw new Error('its large part could not be read');
    await conclude(holding, job, job.unsent(0));
  } finally {
    reserved?.release();
  }
}

async function finishWhole(holding: Holding, job: Job, how: How): Promise<void> {
  const finished = await job[how](holding.context).catch((error: unknown) => {
    note(holding, {});
    throw error;
  });
  await conclude(holding, job, finished);
}

async function conclude(holding: Holding, job: Job, finished: Finished): Promise<void> {
  const { deps, cutter } = holding;
  note(holding, finished);
  const { laneWaitsMs } = finished;
  if (laneWaitsMs !== undefined) block(holding, laneWaitsMs);
  const kept = await finished.record(cutter.signal);
  if (!kept) deps.log.warn(job.about, 'an outcome came after the lease was lost and was refused');
}

/**
 * What was cut off by us says nothing of the other side. To be called for whatever was started: a probe that nobody hears of keeps all
 * others from trying.
 */
function note(holding: Holding, { heard }: Pick<Finished, 'heard'>): void {
  const { deps, share, host, lane, cutter } = holding;
  if (isNodes(holding)) return;
  if (heard === undefined || cutter.signal.aborted) return deps.breaker.giveUp(host, lane.id);
  const wasSilent = deps.breaker.isProbing(host);
  deps.breaker.heard(host, lane.id, heard);
  const isSilent = deps.breaker.isProbing(host);
  // Once when it begins and once when it is over.
  const about = { projectId: lane.projectId, lane: lane.id, share: host };
  if (isSilent && !wasSilent) deps.log.warn(about, 'nothing was answered; calls there rest');
  if (wasSilent && !isSilent) deps.log.info(about, 'it is answered again; calls there go on');
  if (deps.breaker.restMs(host) > 0) deps.places.turnAway(share);
}

/** Tried again while the lease holds: a lane that is not given back rests until its lease ends. */
async function leave(holding: Holding): Promise<void> {
  if (holding.prepareFailed) block(holding, unpreparedMs);
  const { lane, deps, context, takeFailed, unrecorded, blockedUntil } = holding;
  for (;;) {
    try {
      const given = { ...lane, blockedMs: Math.max(0, blockedUntil - performance.now()) };
      await (takeFailed ? deps.giveBackUnmarked(given, unrecorded) : deps.giveBack(given));
      return;
    } catch (error) {
      deps.log.warn({ err: error, lane: lane.id }, 'a lane could not be given back');
      if (deps.stopping.aborted || !context.mayStillSend()) return;
      await sleep(deps.pollMs, deps.stopping);
    }
  }
}
