import { apiError, type ApiError } from './errors.ts';

/** Numbers that decide when calls are refused; set through `POST /__sim/quotas`. */
export type QuotaNumbers = {
  /** Calls per rolling 24 h, org-wide. */
  dailyApiRequests: number;
  /** Most long calls at a time. */
  concurrentRequests: number;
  /** How many long calls are pretended to be under way. */
  concurrentBusy: number;
};

export type Quota = {
  numbers: QuotaNumbers;
  /** Counts one call; throws the 403 that Salesforce answers when there is no room. */
  take: (now: number) => void;
  used: (now: number) => number;
  setUsed: (count: number, now: number) => void;
  /** The value of `Sforce-Limit-Info`. */
  info: (now: number) => string;
};

const minute = 60_000;
const minutesADay = 1440;

export function createQuota(): Quota {
  const numbers: QuotaNumbers = { dailyApiRequests: 100_000, concurrentRequests: 25, concurrentBusy: 0 };
  let counted: { minute: number; count: number }[] = [];
  let total = 0;
  function add(count: number, now: number): void {
    const at = Math.floor(now / minute);
    const last = counted.at(-1);
    if (last?.minute === at) last.count += count;
    else counted.push({ minute: at, count });
    total += count;
  }
  function used(now: number): number {
    const oldest = Math.floor(now / minute) - minutesADay;
    while (counted[0] && counted[0].minute <= oldest) total -= counted.shift()?.count ?? 0;
    return total;
  }
  function take(now: number): void {
    if (numbers.concurrentBusy >= numbers.concurrentRequests)
      throw exceeded('ConcurrentRequests (Concurrent API Requests) Limit exceeded.');
    if (used(now) >= numbers.dailyApiRequests) throw exceeded('TotalRequests Limit exceeded.');
    add(1, now);
  }
  function setUsed(count: number, now: number): void {
    counted = [];
    total = 0;
    add(count, now);
  }
  return {
    numbers,
    take,
    used,
    setUsed,
    info: (now) => `api-usage=${used(now)}/${numbers.dailyApiRequests}`,
  };
}

function exceeded(message: string): ApiError {
  return apiError(403, 'REQUEST_LIMIT_EXCEEDED', message);
}
