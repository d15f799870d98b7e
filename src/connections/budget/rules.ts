import type { HttpAnswer } from '../../kit/http/client.ts';
import { longestWaitMs, retryAfterMs, type Connector, type Provider } from '../../providers/index.ts';

/** How long a provider wants to be left alone. */
export interface LimitReached {
  forMs: number;
  /** The provider locked the token out: so long that no caller should sit and wait. */
  lockedOut: boolean;
}

/** What a provider's headers say of the present window. Times are milliseconds since the epoch. */
export interface Quota {
  limit?: number;
  remaining?: number;
  resetAt?: number;
}

/** Who comes first when little is left. */
export type Priority = 'interactive' | 'write' | 'read' | 'backfill';

const defaultWaitMs = 10_000;
/** Waits from here on count as those of a daily limit. Salesforce's total is asked again after a quarter of an hour. */
const lockOutMs = 15 * 60_000;

/** Whether the body, and not the status and the headers alone, decides what an answer says of a limit. */
export function bodyDecides(connector: Connector | undefined, status: number): boolean {
  return connector !== undefined && (status === 429 || status === 403);
}

/** What an answer says of a limit; undefined when it speaks of none. A connector knows its provider's bodies; else 429 counts. */
export function limitReached(
  provider: Provider,
  connector: Connector | undefined,
  answer: HttpAnswer,
  now: number,
): LimitReached | undefined {
  if (answer.status !== 429 && !bodyDecides(connector, answer.status)) return undefined;
  const failure = connector?.failureOf(answer);
  if (failure && failure.category !== 'rateLimit') return undefined;
  const wish = failure?.retryAfterMs ?? headerWaitMs(provider, answer, now);
  const forMs = Math.min(wish ?? defaultWaitMs, longestWaitMs);
  return { forMs, lockedOut: forMs >= lockOutMs };
}

function headerWaitMs(provider: Provider, answer: HttpAnswer, now: number): number | undefined {
  for (const name of provider.rateLimit?.after ?? ['retry-after']) {
    const wait = retryAfterMs(textOf(answer, name), now);
    if (wait !== undefined) return wait;
  }
  for (const name of provider.rateLimit?.at ?? []) {
    const at = epochMs(textOf(answer, name));
    if (at !== undefined) return Math.max(0, at - now);
  }
  return undefined;
}

function textOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim();
}

/** Seconds of the epoch, or milliseconds where the number is too large for seconds. */
function epochMs(text: string | undefined): number | undefined {
  const value = Number(text);
  if (text === undefined || text === '' || !Number.isFinite(value) || value <= 0) return undefined;
  return value > 1e11 ? value : value * 1000;
}

/** The headers in which a provider tells its quota, by their names in lower case. */
export type QuotaNames = ReadonlyMap<string, keyof Quota>;

/** Undefined when the provider tells none. */
export function quotaNames({ rateLimit }: Provider): QuotaNames | undefined {
  const names = new Map<string, keyof Quota>();
  if (rateLimit?.limit) names.set(rateLimit.limit, 'limit');
  if (rateLimit?.remaining) names.set(rateLimit.remaining, 'remaining');
  if (names.size === 0) return undefined;
  for (const name of rateLimit?.at ?? []) names.set(name, 'resetAt');
  return names;
}

/** Adds what one header says; a value that is no number says nothing. */
export function addToQuota(quota: Quota, member: keyof Quota, text: string): void {
  const value = member === 'resetAt' ? epochMs(text) : Number.parseInt(text, 10);
  if (value !== undefined && Number.isFinite(value)) quota[member] = value;
}

/** What an answer says of the present window; undefined when it says nothing. */
export function quotaTold(names: QuotaNames, answer: HttpAnswer): Quota | undefined {
  const quota: Quota = {};
  for (const [name, member] of names) addToQuota(quota, member, textOf(answer, name) ?? '');
  return Object.keys(quota).length > 0 ? quota : undefined;
}

/** The share of a window that is kept for those who come first. */
const reserves: Record<Priority, number> = { interactive: 0, write: 0, read: 0.1, backfill: 0.25 };

/** How long a call of the priority waits for the sake of those before it; nothing is kept back where no reset is known. */
export function reserveWaitMs(quota: Quota | undefined, priority: Priority, now: number): number {
  if (quota?.resetAt === undefined || quota.limit === undefined || quota.remaining === undefined) return 0;
  return quota.remaining < quota.limit * reserves[priority] ? Math.max(0, quota.resetAt - now) : 0;
}

/** How many calls of a day a provider grants and are left, and when it said so. */
export interface DailyQuota {
  limit: number;
  remaining: number;
  at: number;
}

/** A call is made to ask again, so long after the provider told that little is left. */
const askAgainMs = 15 * 60_000;

/** What an answer says of the day; undefined when it says nothing. */
export function dailyQuota({ rateLimit }: Provider, answer: HttpAnswer, at: number): DailyQuota | undefined {
  const daily = rateLimit?.daily;
  if (!daily) return undefined;
  const [limit, remaining] =
    'usage' in daily
      ? leftOf(textOf(answer, daily.usage))
      : [textOf(answer, daily.limit), textOf(answer, daily.remaining)].map((text) =>
          Number.parseInt(text ?? '', 10),
        );
  if (!Number.isFinite(limit) || !Number.isFinite(remaining)) return undefined;
  return { limit: limit ?? 0, remaining: remaining ?? 0, at };
}

/** Of `api-usage=18/5000`. */
function leftOf(text: string | undefined): number[] {
  const [, used, limit] = /=\s*(\d+)\/(\d+)/.exec(text ?? '') ?? [];
  return [Number(limit), Number(limit) - Number(used)];
}

/** History is read with what is left beyond a share of the day, in per cent. */
export function dailyWaitMs(
  quota: DailyQuota | undefined,
  priority: Priority,
  { reservePercent, now }: { reservePercent: number; now: number },
): number {
  if (priority !== 'backfill' || !quota) return 0;
  if (quota.remaining >= (quota.limit * reservePercent) / 100) return 0;
  return Math.max(0, quota.at + askAgainMs - now);
}
