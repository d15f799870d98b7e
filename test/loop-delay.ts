import type { Platform } from './platform.ts';
import { slowness } from './slowness.ts';

/** For how long one request or answer may hold the event loop, in milliseconds of a processor that is not slowed. */
export const mostDelayMs = 100;
/** The best attempt counts: other work on the machine takes the processor away in some of them. */
const attempts = 10;

export interface Held<Result> {
  result: Result;
  /** In milliseconds of a processor that is not slowed. */
  held: number;
}

/** What `work` came to, and for how long it held the platform's event loop at a time. Again where that was too long. */
export async function holding<Result>(
  platform: Platform,
  work: () => Promise<Result>,
): Promise<Held<Result>> {
  let least = await holdingOnce(platform, work);
  for (let attempt = 1; attempt < attempts && least.held > mostDelayMs; attempt += 1) {
    const next = await holdingOnce(platform, work);
    if (next.held < least.held) least = next;
  }
  return least;
}

async function holdingOnce<Result>(platform: Platform, work: () => Promise<Result>): Promise<Held<Result>> {
  await longestDelay(platform);
  const result = await work();
  return { result, held: (await longestDelay(platform)) / slowness() };
}

/** The longest delay of the server's event loop since this was asked last, in milliseconds. */
async function longestDelay(platform: Platform): Promise<number> {
  const { text } = await platform.call('GET', '/metrics');
  const [, seconds = 'NaN'] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text) ?? [];
  return Number(seconds) * 1000;
}
