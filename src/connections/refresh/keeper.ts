import { isId } from '../../kit/ids.ts';
import { Problem, problem } from '../../kit/problem.ts';
import { remember } from '../../kit/remember.ts';
import { badCredentials, canRenew, placeOf, refusedForNow, type Credential } from '../credentials/index.ts';
import { checkHealth } from '../proof/index.ts';
import { whoseOf, type ConnectionKey } from '../store.ts';
import { createHeldCache, holdRow, type Held, type HeldCache } from './held.ts';
import { createMarks, type Marks } from './marks.ts';
import { createRefresher, type Cause, type RefreshDeps } from './refresher.ts';

/** Keeps credentials usable: at hand without SQL, renewed in time, condemned when they are gone. */
export interface Keeper extends Marks {
  /** Throws not-found. */
  held(key: ConnectionKey): Promise<Held>;
  /** The same, unless its credentials are known to be dead: then the row is read first. Throws connection-bad-credentials. */
  usable(key: ConnectionKey): Promise<Held>;
  /** Throws connection-bad-credentials, and what a refresh throws when there is nothing left to use. */
  credential(key: ConnectionKey): Promise<Credential>;
  /**
   * After a 401 with this generation: a newer one, or the same when the 401 is not about the age of the credentials. Throws
   * provider-unreachable, too, while a renewed one is refused and that may pass, and what a refresh threw a moment ago.
   */
  renew(key: ConnectionKey, generation: number): Promise<Credential>;
  /** Renews whatever is left of the token's life; does nothing for what has no token endpoint. */
  refresh(key: ConnectionKey): Promise<void>;
  /** The next look reads the row again. */
  forget(key: ConnectionKey): void;
  /** Waits for the tokens that are on their way: a provider may have ended those in place. */
  close(): Promise<void>;
}

/** After a refresh ahead of time, or a health check that told something, the next one waits this long. */
const pauseMs = 10_000;

export function createKeeper(deps: RefreshDeps): Keeper {
  const { ground, catalog } = deps;
  const cache = createHeldCache(ground, catalog);
  const refresher = createRefresher(deps);
  const marks = createMarks(deps, cache);
  const confirm = createConfirm(deps, marks);
  const ahead = createPauses();

  const held = (key: ConnectionKey): Promise<Held> => heldIn(cache, key);

  async function usable(key: ConnectionKey): Promise<Held> {
    // Another node may have stored better ones since.
    if (cache.peek(key)?.row.status === 'bad_credentials') cache.expire(key);
    const found = cache.peek(key) ?? (await held(key));
    if (found.row.status === 'bad_credentials') throw badCredentials(found.row);
    return found;
  }

  async function refreshPast(key: ConnectionKey, generation: number, cause: Cause): Promise<Credential> {
    try {
      return holdRow(ground, catalog, await refresher.past(key, generation, cause)).credential();
    } finally {
      cache.expire(key);
    }
  }

  const refreshAfter401 = createAfter401((key, generation) => refreshPast(key, generation, '401'));

  async function refreshAhead(key: ConnectionKey, { row }: Held): Promise<void> {
    if (!ahead.start(key.join('/'))) return;
    try {
      await refreshPast(key, row.generation, 'age');
    } catch (error) {
      ground.log.warn({ err: error, ...whoseOf(row) }, 'a refresh ahead of time failed');
    }
  }

  return {
    ...marks,
    held,
    usable,
    async credential(key) {
      const found = await usable(key);
      if (!found.isDue() || !canRenew(found.secrets())) return found.credential();
      if (found.isExpired()) return refreshPast(key, found.row.generation, 'age');
      // What is left of its life is enough for this call; the next ones find the new token.
      void refreshAhead(key, found);
      return found.credential();
    },
    async renew(key, generation) {
      const found = await usable(key);
      if (found.row.generation > generation) return found.credential();
      if (!canRenew(found.secrets()) || found.isResting()) return confirm(key, found);
      return refreshAfter401(key, found.row.generation);
    },
    async refresh(key) {
      const found = await usable(key);
      if (canRenew(found.secrets())) await refreshPast(key, found.row.generation, 'age');
    },
    forget: (key) => cache.invalidate(key),
    close: () => deps.newTokens.close().finally(() => cache.close()),
  };
}

type Refresh = (key: ConnectionKey, generation: number) => Promise<Credential>;

/** The first of several failed refreshes is every 401's answer for so long, each further one for twice as long as the one before. */
const failedFirstMs = 1_000;
const failedMostMs = 60_000;

/** Asks a token endpoint that fails once in a while, and not once more for each 401. */
function createAfter401(refresh: Refresh): Refresh {
  const failures = new Map<string, { failure: Problem; forMs: number; until: number }>();
  return async (key, generation) => {
    const name = `${key.join('/')} ${generation}`;
    const last = failures.get(name);
    if (last && performance.now() < last.until) throw last.failure;
    try {
      const renewed = await refresh(key, generation);
      failures.delete(name);
      return renewed;
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'database-unavailable') throw error;
      const forMs = Math.min(failedMostMs, last ? 2 * last.forMs : failedFirstMs);
      remember(failures, name, { failure: error, forMs, until: performance.now() + forMs });
      throw error;
    }
  };
}

async function heldIn(cache: HeldCache, key: ConnectionKey): Promise<Held> {
  const found = cache.peek(key) ?? (isId(key[1]) ? await cache.get(key) : undefined);
  if (!found) throw problem('not-found', { detail: `There is no connection ${key[1]}.` });
  return found;
}

/**
 * Decides about a 401 for what cannot be renewed, or was just now for another 401: that one call may be refused for another reason, the
 * health check tells. Where there is none, only what cannot be renewed is condemned. What can be renewed is condemned when that lasts:
 * the provider gave the token that it refuses.
 */
function createConfirm(
  { ground, catalog }: RefreshDeps,
  marks: Marks,
): (key: ConnectionKey, held: Held) => Promise<Credential> {
  const proven = createPauses();
  const refused = createPauses();
  return async (key, held) => {
    const { row } = held;
    const name = `${key.join('/')} ${row.generation}`;
    if (proven.isOn(name)) return held.credential();
    const provider = catalog.get(row.provider);
    if (refused.isOn(name)) throw refusedForNow(row, provider);
    const place = placeOf(provider, row.workspace_ref, row.provider_metadata);
    const health = await checkHealth(ground, provider, place, held.credential());
    const isRenewed = canRenew(held.secrets());
    if (health.kind !== 'rejected' && (health.kind !== 'untested' || isRenewed)) {
      if (health.kind === 'works' && row.is_refused) marks.markWorking(key);
      proven.start(name);
      return held.credential();
    }
    const detail = health.kind === 'rejected' ? health.message : 'The provider answered 401.';
    if (isRenewed && !(await marks.markRefused(key, row.generation))) {
      refused.start(name);
      throw refusedForNow(row, provider);
    }
    await marks.markBad(key, row.generation, detail);
    throw badCredentials({ id: row.id, status_detail: detail });
  };
}

interface Pauses {
  isOn(name: string): boolean;
  /** False when it is on already. */
  start(name: string): boolean;
}

/** Names that rest for a while. */
function createPauses(): Pauses {
  const until = new Map<string, number>();
  const isOn = (name: string): boolean => performance.now() < (until.get(name) ?? 0);
  return {
    isOn,
    start(name) {
      if (isOn(name)) return false;
      if (until.size >= 10_000) until.clear();
      until.set(name, performance.now() + pauseMs);
      return true;
    },
  };
}
