import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

/** What ran out of attempts at a destination since the last event told of it. */
export interface DeadLetters {
  project_id: string;
  id: string;
  name: string;
  dead_letters: string;
  dead_since: Date;
}

const take = statement(
  'dead_letters_take',
  `WITH untold AS MATERIALIZED (
    SELECT project_id, id, dead_letters, dead_since FROM destination
    WHERE dead_since <= svc_now() - $1 * interval '1 millisecond'
    ORDER BY dead_since LIMIT $2 FOR UPDATE SKIP LOCKED)
  UPDATE destination d SET dead_letters = 0, dead_since = NULL FROM untold u
  WHERE d.project_id = u.project_id AND d.id = u.id
  RETURNING d.project_id, d.id, d.name, u.dead_letters, u.dead_since`,
);

// Counted to a bound: what is beyond it is alarming enough.
const count = statement(
  'dead_letters_count',
  `SELECT count(*)::int AS n FROM (SELECT FROM delivery WHERE status = 'failed' LIMIT $1) d`,
);

/** Those that wait for so long to be told of, at most so many destinations; they count as told with the commit. */
export function takeDeadLetters(tx: Queryable, forMs: number, limit: number): Promise<DeadLetters[]> {
  return tx.rows<DeadLetters>(take, [forMs, limit]);
}

/** Deliveries of all projects that ran out of attempts and are kept; no more than `most` are counted. */
export async function countDeadLetters(db: Queryable, most: number): Promise<number> {
  return (await db.rows<{ n: number }>(count, [most]))[0]?.n ?? 0;
}
