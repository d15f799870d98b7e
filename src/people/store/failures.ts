import type { Database } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

/**
 * Counts an attempt before it is looked at, so that many at once are many. Refuses (no row) while the key is blocked. After
 * `free` failures each doubles the time until the next, from a second up to `mostSeconds`. A day without failures forgets them.
 */
const attempt = statement(
  'sign_in_failures_attempt',
  `INSERT INTO sign_in_failure AS f (key, failures, blocked_until, last_at) VALUES ($1, 1, svc_now(), svc_now())
   ON CONFLICT (key) DO UPDATE SET
     failures = CASE WHEN f.last_at < svc_now() - interval '1 day' THEN 1 ELSE f.failures + 1 END,
     blocked_until = svc_now() + CASE WHEN f.last_at < svc_now() - interval '1 day' OR f.failures < $2::int THEN 0
       ELSE least(power(2, least(f.failures - $2::int, 30)), $3::float8) END * interval '1 second',
     last_at = svc_now()
   WHERE f.blocked_until <= svc_now()
   RETURNING failures`,
);
const blocked = statement(
  'sign_in_failures_blocked',
  `SELECT extract(epoch FROM blocked_until - svc_now())::float8 AS seconds FROM sign_in_failure WHERE key = $1`,
);
const forget = statement('sign_in_failures_forget', 'DELETE FROM sign_in_failure WHERE key = $1');
// An attempt that was right is no failure; those before it stay.
const giveBack = statement(
  'sign_in_failures_give_back',
  'UPDATE sign_in_failure SET failures = greatest(failures - 1, 0), blocked_until = svc_now() WHERE key = $1',
);
const sweep = statement(
  'sign_in_failures_sweep',
  `DELETE FROM sign_in_failure WHERE key IN (SELECT key FROM sign_in_failure
     WHERE last_at < svc_now() - interval '1 day' ORDER BY last_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
);

export interface Backoff {
  /** So many failures cost nothing. */
  free: number;
  mostSeconds: number;
}

/** Undefined when it may be looked at; else in how many seconds. */
export async function countAttempt(
  db: Database,
  key: string,
  { free, mostSeconds }: Backoff,
): Promise<number | undefined> {
  if ((await db.rows(attempt, [key, free, mostSeconds])).length > 0) return undefined;
  const [row] = await db.rows<{ seconds: number }>(blocked, [key]);
  return Math.max(1, row?.seconds ?? 1);
}

export async function forgetFailures(db: Database, key: string): Promise<void> {
  await db.rows(forget, [key]);
}

export async function giveAttemptBack(db: Database, key: string): Promise<void> {
  await db.rows(giveBack, [key]);
}

export async function sweepFailures(db: Database): Promise<void> {
  await db.rows(sweep);
}
