import { createHash } from 'node:crypto';
import type { Ground } from '../../kit/ground.ts';
import { declareCounter } from '../../kit/metrics.ts';
import { problem } from '../../kit/problem.ts';
import { sleep } from '../../kit/retry.ts';
import type { Principal } from '../auth/principal.ts';
import { cleanBudgets, spendBudgets, type Grant, type Wish } from './store.ts';

/**
 * Limits the requests of each key by one budget over all nodes. A node takes a tenth of a second's worth at a time, so that
 * most requests cost no statement; a key that has nothing left is refused from memory until there is more.
 */
export interface RateLimit {
  /** Counts a request: undefined where it may go on at once. Throws or rejects with rate-limited. */
  admit(principal: Principal, surface: Surface): Promise<void> | undefined;
  close(): Promise<void>;
}

type Surface = 'management' | 'proxy';

/** What this node holds of a key's budget. Times are monotonic, in milliseconds. */
interface Account {
  left: number;
  /** When what is left lapses. */
  until: number;
  /** Until then there is nothing in the budget of all nodes. */
  emptyUntil: number;
  /** Requests that wait for the next grant. */
  waiting: ((admitted: boolean) => void)[];
}

const limited = declareCounter(
  'svc_rate_limited_total',
  'Requests refused because their key made more than SVC_RATE_LIMIT_PER_KEY allows.',
  ['surface'],
);

export const rateLimitMetrics = [limited];

/** What a node has taken and not used lapses after this time. */
const keepMs = 10_000;
const secondMs = 1_000;
/** A key that has nothing left is not asked for again before. */
const restMs = 50;
/** A database that does not answer for so long holds nobody up. */
const patienceMs = 1_000;
const cleanEveryMs = 60_000;

export function createRateLimit(
  ground: Pick<Ground, 'database' | 'log' | 'metrics'>,
  perSecond: number,
): RateLimit {
  const accounts = new Map<string, Account>();
  /** Those that want a grant. */
  const wanting = new Map<string, Account>();
  const slice = Math.ceil(perSecond / 10);
  let asking: Promise<void> | undefined;

  const cleaning = setInterval(() => forgetIdle(ground, accounts, wanting), cleanEveryMs);
  cleaning.unref();

  function ask(keyId: string, account: Account): void {
    wanting.set(keyId, account);
    asking ??= askAll().finally(() => {
      asking = undefined;
    });
  }

  /** One statement at a time; what is wanted meanwhile goes together in the next. */
  async function askAll(): Promise<void> {
    // Requests that arrive in the same turn share the statement.
    await Promise.resolve();
    while (wanting.size > 0) {
      const wishes = [...wanting].map(([keyId, { waiting }]) => ({
        keyId,
        count: Math.max(slice, waiting.length),
      }));
      const grants = await grantsFor(ground, wishes, perSecond);
      for (const wish of wishes) settle(wish, grants?.get(wish.keyId));
    }
  }

  function settle({ keyId, count }: Wish, grant: Grant | undefined): void {
    const account = accountOf(accounts, keyId);
    // With the database away each node grants a second's worth for each second.
    if (grant) credit(account, grant, { isAll: grant.granted < count, forMs: keepMs });
    else credit(account, { granted: perSecond, waitMs: secondMs }, { isAll: true, forMs: secondMs });
    if (account.waiting.length === 0) wanting.delete(keyId);
  }

  function refusal(account: Account, surface: Surface): Error {
    limited.in(ground.metrics).inc({ surface });
    return problem('rate-limited', {
      detail: `More than ${perSecond} requests a second came with these credentials, counted over all nodes.`,
      retryAfterSeconds: Math.max(1, (account.emptyUntil - performance.now()) / 1_000),
    });
  }

  return {
    admit(principal, surface) {
      const budget = budgetOf(principal);
      const account = accountOf(accounts, budget);
      if (spend(account)) {
        if (isLow(account, slice)) ask(budget, account);
        return undefined;
      }
      if (isEmpty(account)) throw refusal(account, surface);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      account.waiting.push(resolve);
      ask(budget, account);
      return refuseUnless(promise, () => refusal(account, surface));
    },
    async close() {
      clearInterval(cleaning);
      await asking;
    },
  };
}

/** The tokens of a group share one budget, however many keys sign them: one customer does not shut out the others. */
function budgetOf({ kind, keyId, projectId, groupRef = '' }: Principal): string {
  if (kind !== 'jwt') return keyId;
  // A ref is the builder's content; the table holds ids alone.
  return createHash('sha256').update(`${projectId}/${groupRef}`).digest('base64url');
}

function spend(account: Account): boolean {
  if (account.left === 0 || account.until <= performance.now()) return false;
  account.left -= 1;
  return true;
}

/** Time to ask for more, while there is something left to go on with. */
function isLow(account: Account, slice: number): boolean {
  return account.left > 0 && account.left < slice / 4 && !isEmpty(account);
}

function isEmpty({ emptyUntil }: Account): boolean {
  return emptyUntil > performance.now();
}

async function refuseUnless(admitted: Promise<boolean>, refusal: () => Error): Promise<void> {
  if (!(await admitted)) throw refusal();
}

/** Undefined where the database does not answer. */
async function grantsFor(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  wishes: Wish[],
  perSecond: number,
): Promise<Map<string, Grant> | undefined> {
  const silence = new AbortController();
  const silent = sleep(patienceMs, silence.signal).then(() => undefined);
  try {
    return await Promise.race([spendBudgets(database, wishes, perSecond), silent]);
  } catch (error) {
    log.debug({ err: error }, 'budgets of keys could not be asked for');
    return undefined;
  } finally {
    silence.abort();
  }
}

/** Serves those who wait from what was granted, in their order; the others are refused where there is no more. */
function credit(
  account: Account,
  { granted, waitMs }: Grant,
  { isAll, forMs }: { isAll: boolean; forMs: number },
): void {
  const now = performance.now();
  account.left = (account.until > now ? account.left : 0) + granted;
  account.until = now + forMs;
  if (isAll) account.emptyUntil = now + Math.max(waitMs, restMs);
  const served = account.waiting.splice(0, account.left);
  account.left -= served.length;
  for (const answer of served) answer(true);
  if (isEmpty(account)) for (const answer of account.waiting.splice(0)) answer(false);
}

function forgetIdle(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  accounts: Map<string, Account>,
  wanting: Map<string, Account>,
): void {
  const now = performance.now();
  for (const [keyId, account] of accounts)
    if (!wanting.has(keyId) && now > account.until && now > account.emptyUntil) accounts.delete(keyId);
  cleanBudgets(database).catch((error: unknown) => log.debug({ err: error }, 'budgets were not cleaned'));
}

function accountOf(accounts: Map<string, Account>, keyId: string): Account {
  const known = accounts.get(keyId);
  if (known) return known;
  const made: Account = { left: 0, until: 0, emptyUntil: 0, waiting: [] };
  accounts.set(keyId, made);
  return made;
}
