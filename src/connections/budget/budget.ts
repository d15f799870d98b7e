import type { Ground } from '../../kit/ground.ts';
import type { HttpAnswer } from '../../kit/http/client.ts';
import { sleep } from '../../kit/retry.ts';
import { connectorOf, longestWaitMs, type Catalog } from '../../providers/index.ts';
import { openBudgetChannel, type BudgetChannel } from './channel.ts';
import {
  bodyDecides,
  dailyQuota,
  dailyWaitMs,
  limitReached,
  quotaNames,
  quotaTold,
  reserveWaitMs,
  type DailyQuota,
  type LimitReached,
  type Priority,
  type Quota,
  type QuotaNames,
} from './rules.ts';
import { createSharedClock, type SharedClock } from './shared-clock.ts';
import { cleanClosures, readClosures, saveClosures, type Opening, type StoredClosure } from './store.ts';

/** A window that is closed. */
export interface Closure {
  /** Milliseconds since the epoch, by the database's clock; a whole second, as callers are told: the same on every node. */
  until: number;
  lockedOut: boolean;
}

/** For whom a provider is called, as the log says it. */
export interface Caller {
  groupRef?: string | undefined;
  operationId?: string | undefined;
  requestId?: string | undefined;
}

interface Call extends Caller {
  /** Of the credentials that it carried: newer ones have no part in what it tells. */
  generation: number;
}

/**
 * The rate budget of each connection, one for all nodes. A provider's rate-limit answer closes the
 * window: here at once, on the other nodes within 100 ms. New credentials open it (`openWindow`),
 * which each node finds within a second. All questions are answered from memory.
 */
export interface Budget {
  /** Resolves once the windows that other nodes closed are known here, or could not be read. */
  ready(): Promise<void>;
  /** The same of those that were closed or opened until now. */
  look(): Promise<void>;
  closed(projectId: string, connectionId: string): Closure | undefined;
  /** How long a call has to wait; 0: it may go. */
  waitMs(projectId: string, connectionId: string, priority: Priority): number;
  /** The same, for who waits so long: a window that was opened a moment ago may not be known here, and is looked for. */
  surelyWaitMs(projectId: string, connectionId: string, priority: Priority): Promise<number>;
  /** Closes the window for as long as the provider asks; one that is closed for longer stays so. Answers what now holds. */
  close(projectId: string, connectionId: string, limit: LimitReached, call: Call): Closure;
  /** Whether the body of an answer of this status decides what it says of a limit. */
  bodyDecides(provider: string, status: number): boolean;
  /** Closes the window if the answer says so, and notes what it tells of the quota. */
  observe(
    projectId: string,
    connectionId: string,
    provider: string,
    answer: HttpAnswer,
    call: Call,
  ): Closure | undefined;
  /** The headers in which the provider tells its quota; undefined when it tells none. */
  quotaNames(provider: string): QuotaNames | undefined;
  noteQuota(projectId: string, connectionId: string, quota: Quota, call: Pick<Call, 'generation'>): void;
  quota(projectId: string, connectionId: string): Quota | undefined;
  /** The time that {@link Closure.until} is compared with. */
  now(): number;
  end(): Promise<void>;
}

const pollMs = 1_000;
const cleanEveryMs = 3_600_000;
/** For a shorter wait nobody looks. */
const soonMs = 10_000;
/** Refusals of calls that were under way together mean the same window: this little more does not move its end. */
const sameWindowMs = 250;
const shareEveryMs = 20;
const maxQuotas = 10_000;

interface State {
  ground: Ground;
  clock: SharedClock;
  closures: Map<string, StoredClosure>;
  /** Closed here, and not told yet. */
  untold: Map<string, StoredClosure>;
  /** Windows that new credentials opened; none was closed for longer than they are kept. */
  opened: Map<string, Opening>;
  /** By the database's clock. */
  lastReadAt: number | undefined;
  quotas: Map<string, Quota>;
  /** What providers told of the day. */
  days: Map<string, DailyQuota>;
  stopping: AbortController;
  /** Opened at first use. */
  channel: BudgetChannel | undefined;
  loaded: Promise<void> | undefined;
  sharing: Promise<void> | undefined;
}

export interface BudgetOptions {
  /** Of the calls that a provider grants in a day, what history leaves to everything else, in per cent. */
  backfillReservePercent?: number | undefined;
}

export function createBudget(
  ground: Ground,
  catalog: Catalog,
  { backfillReservePercent: reservePercent = 20 }: BudgetOptions = {},
): Budget {
  const state = createState(ground);
  const namesOf = rememberedNames(catalog);
  const closed = (projectId: string, connectionId: string): Closure | undefined => {
    const found = state.closures.get(keyOf(projectId, connectionId));
    return found && found.until > state.clock.now() ? found : undefined;
  };
  const waitMs: Budget['waitMs'] = (projectId, connectionId, priority) => {
    const now = state.clock.now();
    const until = closed(projectId, connectionId)?.until ?? now;
    const key = keyOf(projectId, connectionId);
    const day = dailyWaitMs(state.days.get(key), priority, { reservePercent, now });
    return Math.max(until - now, reserveWaitMs(state.quotas.get(key), priority, now), day);
  };
  return {
    ready: () => start(state),
    look: () => load(state),
    closed,
    waitMs,
    async surelyWaitMs(...about) {
      if (waitMs(...about) > soonMs) await load(state);
      return waitMs(...about);
    },
    close: (projectId, connectionId, limit, call) =>
      closeHere(state, { projectId, connectionId, ...call }, limit),
    bodyDecides: (provider, status) => bodyDecides(connectorOf(provider), status),
    observe(projectId, connectionId, provider, answer, call) {
      const declared = catalog.find(provider);
      const day = declared && dailyQuota(declared, answer, state.clock.now());
      if (day) remember(state, state.days, { projectId, connectionId, ...call }, day);
      const quota = quotaTold(namesOf(provider) ?? new Map(), answer);
      if (quota) remember(state, state.quotas, { projectId, connectionId, ...call }, quota);
      const limit = declared && limitReached(declared, connectorOf(provider), answer, state.clock.now());
      return limit && closeHere(state, { projectId, connectionId, ...call }, limit);
    },
    quotaNames: namesOf,
    noteQuota: (projectId, connectionId, quota, call) => {
      remember(state, state.quotas, { projectId, connectionId, ...call }, quota);
    },
    quota: (projectId, connectionId) => state.quotas.get(keyOf(projectId, connectionId)),
    now: () => state.clock.now(),
    async end() {
      state.stopping.abort();
      await state.sharing;
      state.channel?.close();
    },
  };
}

function createState(ground: Ground): State {
  return {
    ground,
    clock: createSharedClock(),
    closures: new Map(),
    untold: new Map(),
    opened: new Map(),
    lastReadAt: undefined,
    quotas: new Map(),
    days: new Map(),
    stopping: new AbortController(),
    channel: undefined,
    loaded: undefined,
    sharing: undefined,
  };
}

/** The headers of each provider, found once. */
function rememberedNames(catalog: Catalog): Budget['quotaNames'] {
  const names = new Map<string, QuotaNames | undefined>();
  return (provider) => {
    if (names.has(provider)) return names.get(provider);
    const declared = catalog.find(provider);
    const found = declared && quotaNames(declared);
    names.set(provider, found);
    return found;
  };
}

function remember<Value>(state: State, known: Map<string, Value>, told: Told, value: Value): void {
  if (isOlder(state, told)) return;
  const key = keyOf(told.projectId, told.connectionId);
  known.delete(key);
  known.set(key, value);
  const oldest = known.keys().next().value;
  if (known.size > maxQuotas && oldest !== undefined) known.delete(oldest);
}

function keyOf(projectId: string, connectionId: string): string {
  return `${projectId}/${connectionId}`;
}

/** Closes the window in memory at once and tells the others behind the caller's back. */
function closeHere(
  state: State,
  { generation, ...about }: Call & { projectId: string; connectionId: string },
  limit: LimitReached,
): Closure {
  const { projectId, connectionId } = about;
  const key = keyOf(projectId, connectionId);
  const now = state.clock.now();
  const known = state.closures.get(key);
  const wished = now + limit.forMs;
  if (known && known.until > now && known.until + sameWindowMs >= wished) return known;
  const until = Math.ceil(wished / 1000) * 1000;
  const closure = { projectId, connectionId, until, lockedOut: limit.lockedOut, generation };
  if (limit.forMs <= 0 || isOlder(state, closure)) return closure;
  const { forMs, lockedOut } = limit;
  state.ground.log.info(
    { ...about, forMs, lockedOut },
    'the provider’s limit is reached; its window is closed',
  );
  state.closures.set(key, closure);
  state.untold.set(key, closure);
  void start(state);
  share(state);
  return closure;
}

/** One statement and one notification on their way at a time; what is closed meanwhile goes together in the next. */
function share(state: State): void {
  if (state.sharing || state.untold.size === 0 || state.stopping.signal.aborted) return;
  state.sharing = shareOnce(state).finally(() => {
    state.sharing = undefined;
    share(state);
  });
}

async function shareOnce(state: State): Promise<void> {
  const { ground, untold, stopping } = state;
  const closures = [...untold.values()];
  untold.clear();
  try {
    await Promise.all([state.channel?.send(closures), saveClosures(ground.database, closures)]);
    await sleep(shareEveryMs, stopping.signal);
  } catch (error) {
    ground.log.warn({ err: error }, 'closed windows could not be stored; trying again');
    for (const closure of closures) {
      const key = keyOf(closure.projectId, closure.connectionId);
      if (!untold.has(key)) untold.set(key, closure);
    }
    await sleep(pollMs, stopping.signal);
  }
}

/** Listens and polls from the first use on. */
function start(state: State): Promise<void> {
  if (state.loaded) return state.loaded;
  const { ground, stopping } = state;
  if (stopping.signal.aborted) return Promise.resolve();
  state.channel = openBudgetChannel(ground.database, ground.log, (told) => merge(state, told));
  state.loaded = load(state);
  void state.loaded.then(() => poll(state));
  return state.loaded;
}

async function poll(state: State): Promise<void> {
  const { ground, stopping } = state;
  let cleanedAt = -Infinity;
  while (!stopping.signal.aborted) {
    await sleep(pollMs, stopping.signal);
    if (stopping.signal.aborted) return;
    await load(state);
    if (performance.now() - cleanedAt < cleanEveryMs) continue;
    cleanedAt = performance.now();
    await cleanClosures(ground.database).catch(() => undefined);
  }
}

/** Reads the closed windows and the database's clock. With the database away, what is known stays. */
async function load(state: State): Promise<void> {
  const startedAt = performance.now();
  try {
    const { now, closures, openings } = await readClosures(state.ground.database, state.lastReadAt);
    state.clock.set(now, startedAt, performance.now());
    state.lastReadAt = now;
    forgetPast(state);
    for (const opening of openings) open(state, opening);
    merge(state, closures);
  } catch (error) {
    state.ground.log.debug({ err: error }, 'closed windows could not be read');
  }
}

function merge(state: State, told: readonly StoredClosure[]): void {
  for (const closure of told) {
    const key = keyOf(closure.projectId, closure.connectionId);
    if (isOlder(state, closure)) continue;
    const known = state.closures.get(key);
    if (!known || known.until < closure.until) state.closures.set(key, closure);
  }
}

type Told = Pick<StoredClosure, 'projectId' | 'connectionId' | 'generation'>;

/** Whether what is told is of credentials before those that opened the window. */
function isOlder({ opened }: State, told: Told): boolean {
  return told.generation < (opened.get(keyOf(told.projectId, told.connectionId))?.generation ?? 0);
}

/** Forgets what was told of the credentials before. */
function open({ closures, untold, opened, quotas, days }: State, opening: Opening): void {
  const key = keyOf(opening.projectId, opening.connectionId);
  // An opening is read again for a while: what is told of the new credentials stays.
  if (opened.get(key)?.generation !== opening.generation) for (const told of [quotas, days]) told.delete(key);
  opened.set(key, opening);
  for (const known of [closures, untold])
    if ((known.get(key)?.generation ?? Infinity) < opening.generation) known.delete(key);
}

function forgetPast({ closures, opened, clock }: State): void {
  const now = clock.now();
  for (const [key, { until }] of closures) if (until <= now) closures.delete(key);
  for (const [key, { at }] of opened) if (at < now - longestWaitMs) opened.delete(key);
}
