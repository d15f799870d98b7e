import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

/** So many requests are wanted for a key. */
export interface Wish {
  keyId: string;
  count: number;
}

/** What a key got of its budget, and after how long there is more where that was nothing. */
export interface Grant {
  granted: number;
  waitMs: number;
}

// A second's worth may be spent at once. The order keeps two nodes from waiting for one another. The clock is the system's: budgets
// are about what happens now.
const spend = statement(
  'rate_limit_spend',
  `INSERT INTO rate_limit AS held (key_id, spent_until, granted)
   SELECT key_id, now() + least(count, $3) * interval '1 second' / $3::float8, least(count, $3)
   FROM unnest($1::text[], $2::integer[]) AS wish (key_id, count) ORDER BY key_id
   ON CONFLICT (key_id) DO UPDATE SET (spent_until, granted) = (
     SELECT spent_from + granted * interval '1 second' / $3::float8, granted
     FROM (SELECT greatest(held.spent_until, now()) AS spent_from) AS clock,
       LATERAL (SELECT greatest(0, least(excluded.granted,
         floor(extract(epoch FROM now() + interval '1 second' - spent_from) * $3)::integer)) AS granted) AS share)
   RETURNING key_id, granted,
     (extract(epoch FROM spent_until - now()) * 1000 - 1000 + 1000 / $3::float8)::float8 AS wait_ms`,
);

const clean = statement(
  'rate_limit_clean',
  `DELETE FROM rate_limit WHERE spent_until < now() - interval '1 minute'`,
);

interface SpentRow {
  key_id: string;
  granted: number;
  wait_ms: number;
}

/** Takes from the budgets of keys, as far as they reach. */
export async function spendBudgets(
  db: Queryable,
  wishes: readonly Wish[],
  perSecond: number,
): Promise<Map<string, Grant>> {
  const rows = await db.rows<SpentRow>(spend, [
    wishes.map(({ keyId }) => keyId),
    wishes.map(({ count }) => count),
    perSecond,
  ]);
  return new Map(
    rows.map(({ key_id, granted, wait_ms }) => [key_id, { granted, waitMs: Math.max(0, wait_ms) }]),
  );
}

/** Forgets the budgets that are whole again. */
export async function cleanBudgets(db: Queryable): Promise<void> {
  await db.rows(clean);
}
