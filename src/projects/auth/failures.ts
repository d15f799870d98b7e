import ipaddr from 'ipaddr.js';
import type { Ground } from '../../kit/ground.ts';
import { declareCounter } from '../../kit/metrics.ts';
import { problem, Problem } from '../../kit/problem.ts';

/** Where a request came in and from whom. */
export interface Origin {
  surface: 'management' | 'proxy';
  address(): string;
}

/** Counts, logs and slows down wrong credentials. Right ones are never delayed, even from the same address. */
export interface FailureGuard {
  /** The answer: the refusal, or too-many-failures once the address had too many. Other errors pass. */
  judge(error: unknown, from: Origin): unknown;
}

/** How many failures one address has left. */
interface Failing {
  left: number;
  at: number;
  toldAt: number;
  untold: number;
}

const authenticationFailures = declareCounter(
  'svc_authentication_failures_total',
  'Requests with wrong credentials; slowed: answered 429.',
  ['surface', 'answer'],
);

export const authenticationMetrics = [authenticationFailures];

const mostAddresses = 10_000;
const tellEveryMs = 60_000;
const mostLinesAMinute = 60;

/** `perMinute`: how many failures of one address are answered as such; as many may come at once. */
export function createFailureGuard(
  { log, metrics }: Pick<Ground, 'log' | 'metrics'>,
  perMinute: number,
): FailureGuard {
  const byAddress = new Map<string, Failing>();
  const lines = { left: mostLinesAMinute, at: performance.now() };

  function failingOf(name: string, now: number): Failing {
    const known = byAddress.get(name) ?? { left: perMinute, at: now, toldAt: -Infinity, untold: 0 };
    // The map is in the order of failures; the first is the oldest.
    byAddress.delete(name);
    byAddress.set(name, known);
    for (const oldest of byAddress.keys()) {
      if (byAddress.size <= mostAddresses) break;
      byAddress.delete(oldest);
    }
    refill(known, perMinute, now);
    return known;
  }

  function tell(failing: Failing, from: Origin, address: string, reason: string, now: number): void {
    failing.untold += 1;
    if (now - failing.toldAt < tellEveryMs) return;
    refill(lines, mostLinesAMinute, now);
    if (lines.left < 1) return;
    lines.left -= 1;
    log.warn(
      { surface: from.surface, address, failures: failing.untold, reason },
      'credentials were refused; more from this address within a minute are only counted',
    );
    Object.assign(failing, { toldAt: now, untold: 0 });
  }

  return {
    judge(error, from) {
      if (!(error instanceof Problem) || error.code !== 'unauthenticated') return error;
      const now = performance.now();
      const address = from.address();
      const failing = failingOf(neighbourhoodOf(address), now);
      tell(failing, from, address, error.message, now);
      const isSlowed = failing.left < 1;
      authenticationFailures
        .in(metrics)
        .inc({ surface: from.surface, answer: isSlowed ? 'slowed' : 'refused' });
      if (!isSlowed) {
        failing.left -= 1;
        return error;
      }
      return problem('too-many-failures', {
        detail: `More than ${perMinute} requests a minute with wrong credentials came from ${address}; this one was wrong, too.`,
        retryAfterSeconds: Math.max(1, Math.ceil(60 / perMinute)),
      });
    },
  };
}

function refill(bucket: { left: number; at: number }, perMinute: number, now: number): void {
  bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) / 60_000) * perMinute);
  bucket.at = now;
}

/** One host has a whole /64 of IPv6 addresses. */
function neighbourhoodOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
