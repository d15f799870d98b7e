import { randomUUID } from 'node:crypto';
import type { JsonObject, Reply } from '../kit/index.ts';

/** The usage limits of HubSpot; null lifts one. */
export type Quotas = {
  /** Requests per portal and app in `burstIntervalMs` (ten seconds). */
  burstMax: number | null;
  burstIntervalMs: number;
  /** Searches per portal and second, counted apart. */
  searchPerSecond: number | null;
  /** Requests per portal and app and UTC day; also turns the Daily headers on. */
  dailyMax: number | null;
  /** Seconds in Retry-After; a number switches the 477 of a portal migration on. */
  migrationRetryAfter: number | null;
  /** Answers 423 to everything. */
  locked: boolean;
};

export const DEFAULT_QUOTAS: Quotas = {
  burstMax: 110,
  burstIntervalMs: 10_000,
  searchPerSecond: 5,
  dailyMax: null,
  migrationRetryAfter: null,
  locked: false,
};

export type Caller = { account: string; clientId: string };
/** Headers for the answer to come, or the answer that ends the call here. */
export type Admission = { headers: Record<string, string> } | { refused: Reply };

export type Limits = {
  quotas: Quotas;
  admit: (caller: Caller, search: boolean) => Admission;
  set: (input: JsonObject) => Quotas;
};

type Window = { from: number; counts: number[] };

const SLOTS = 10;

/** Counts calls on the simulated clock. */
export function createLimits(now: () => number): Limits {
  const bursts = new Map<string, Window>();
  const searches = new Map<string, Window>();
  const days = new Map<string, { day: number; count: number }>();
  const quotas: Quotas = { ...DEFAULT_QUOTAS };
  function admit(caller: Caller, search: boolean): Admission {
    if (quotas.migrationRetryAfter !== null) return { refused: migration(quotas.migrationRetryAfter) };
    if (quotas.locked) return { refused: locked() };
    if (search) return admitSearch(caller);
    const key = `${caller.account}:${caller.clientId}`;
    const burst = turn(bursts, key, now(), quotas.burstIntervalMs);
    const used = burst.counts.reduce((sum, one) => sum + one, 0);
    const daily = today(days, key, now());
    if (quotas.dailyMax !== null && daily.count >= quotas.dailyMax)
      return { refused: refusal('daily', caller, quotas) };
    if (quotas.burstMax !== null && used >= quotas.burstMax)
      return { refused: refusal('burst', caller, quotas) };
    burst.counts[SLOTS - 1] = (burst.counts[SLOTS - 1] ?? 0) + 1;
    daily.count += 1;
    return { headers: headers(quotas, used + 1, daily.count) };
  }
  function admitSearch(caller: Caller): Admission {
    if (quotas.searchPerSecond === null) return { headers: {} };
    const window = turn(searches, caller.account, now(), 1000);
    const used = window.counts.reduce((sum, one) => sum + one, 0);
    if (used >= quotas.searchPerSecond) return { refused: refusal('search', caller, quotas) };
    window.counts[SLOTS - 1] = (window.counts[SLOTS - 1] ?? 0) + 1;
    return { headers: {} };
  }
  function set(input: JsonObject): Quotas {
    for (const name of ['burstMax', 'searchPerSecond', 'dailyMax', 'migrationRetryAfter'] as const) {
      const value = input[name];
      if (value === null || typeof value === 'number') quotas[name] = value;
    }
    if (typeof input['burstIntervalMs'] === 'number') quotas.burstIntervalMs = input['burstIntervalMs'];
    if (typeof input['locked'] === 'boolean') quotas.locked = input['locked'];
    for (const counted of [bursts, searches, days]) if (Object.keys(input).length > 0) counted.clear();
    return { ...quotas };
  }
  return { quotas, admit, set };
}

/** The rolling window of a key, as ten slots of which the last is now. */
function turn(windows: Map<string, Window>, key: string, now: number, lengthMs: number): Window {
  const slot = Math.floor(now / (lengthMs / SLOTS));
  const known = windows.get(key) ?? { from: slot, counts: Array.from({ length: SLOTS }, () => 0) };
  const passed = Math.min(SLOTS, Math.max(0, slot - known.from));
  const counts = [...known.counts.slice(passed), ...Array.from({ length: passed }, () => 0)];
  const window = { from: slot, counts };
  windows.set(key, window);
  return window;
}

function today(
  days: Map<string, { day: number; count: number }>,
  key: string,
  now: number,
): { day: number; count: number } {
  const day = Math.floor(now / 86_400_000);
  const known = days.get(key);
  if (known?.day === day) return known;
  const fresh = { day, count: 0 };
  days.set(key, fresh);
  return fresh;
}

function headers(quotas: Quotas, used: number, usedToday: number): Record<string, string> {
  const max = quotas.burstMax ?? 1_000_000;
  const out: Record<string, string> = {
    'x-hubspot-ratelimit-max': String(max),
    'x-hubspot-ratelimit-remaining': String(Math.max(0, max - used)),
    'x-hubspot-ratelimit-interval-milliseconds': String(quotas.burstIntervalMs),
  };
  if (quotas.dailyMax === null) return out;
  out['x-hubspot-ratelimit-daily'] = String(quotas.dailyMax);
  out['x-hubspot-ratelimit-daily-remaining'] = String(Math.max(0, quotas.dailyMax - usedToday));
  return out;
}

function refusal(kind: 'burst' | 'daily' | 'search', caller: Caller, quotas: Quotas): Reply {
  const base = { status: 'error', errorType: 'RATE_LIMIT' };
  if (kind === 'search') {
    return { status: 429, body: { ...base, message: 'You have reached your secondly limit.' } };
  }
  const groupName = `publicapi:crm:${caller.clientId}:${caller.account}`;
  const requestId = randomUUID();
  const body =
    kind === 'daily'
      ? { ...base, message: 'You have reached your daily limit.', policyName: 'DAILY', groupName, requestId }
      : {
          ...base,
          message: 'You have reached your ten_secondly_rolling limit.',
          policyName: 'TEN_SECONDLY_ROLLING',
          groupName,
        };
  const full = kind === 'daily' ? {} : headers(quotas, quotas.burstMax ?? 0, 0);
  return { status: 429, body, headers: full };
}

function migration(retryAfter: number): Reply {
  const message = 'This account is being migrated to another region. Try again later.';
  return {
    status: 477,
    body: { status: 'error', message, category: 'MIGRATION_IN_PROGRESS' },
    headers: { 'retry-after': String(retryAfter) },
  };
}

function locked(): Reply {
  return {
    status: 423,
    body: { status: 'error', message: 'The resource is locked by another operation.', category: 'LOCKED' },
  };
}
