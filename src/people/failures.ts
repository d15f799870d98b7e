import ipaddr from 'ipaddr.js';
import type { Database } from '../kit/db/database.ts';
import { problem } from '../kit/problem.ts';
import { hashOf } from './browser.ts';
import { backoff } from './limits.ts';
import {
  countAttempt,
  forgetFailures,
  giveAttemptBack,
  sweepFailures,
  type Backoff,
} from './store/failures.ts';

/**
 * Slows down guessing, over all nodes: by the address that somebody signs in with, whether or not anybody has it, by second
 * factor, and by network address, which is all there is of who signs in elsewhere. Throws sign-in-slowed. A right attempt ends in {@link Attempt.wasRight}.
 */
export interface Attempt {
  wasRight(): Promise<void>;
}

interface Tried {
  email?: string;
  secondFactorOf?: string;
  address: string;
}

export async function beginAttempt(
  db: Database,
  { email, secondFactorOf, address }: Tried,
): Promise<Attempt> {
  await sweepFailures(db);
  const own = ownOf(email, secondFactorOf);
  const network = `address:${networkOf(address)}`;
  await assertOpen(db, network, backoff.address);
  if (own) await assertOpen(db, own.key, own.allowed);
  return {
    async wasRight() {
      if (own) await forgetFailures(db, own.key);
      await giveAttemptBack(db, network);
    },
  };
}

function ownOf(
  email: string | undefined,
  secondFactorOf: string | undefined,
): { key: string; allowed: Backoff } | undefined {
  if (email !== undefined) return { key: `email:${digest(email)}`, allowed: backoff.email };
  if (secondFactorOf === undefined) return undefined;
  return { key: `second-factor:${secondFactorOf}`, allowed: backoff.secondFactor };
}

async function assertOpen(db: Database, key: string, allowed: Backoff): Promise<void> {
  const seconds = await countAttempt(db, key, allowed);
  if (seconds === undefined) return;
  throw problem('sign-in-slowed', {
    detail: `Signing in failed several times; the next attempt is looked at in ${Math.ceil(seconds)} s.`,
    retryAfterSeconds: Math.ceil(seconds),
  });
}

/** Addresses that nobody has are not kept as they were typed. */
const digest = (email: string): string => hashOf(email).toString('hex');

/** One host has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
