import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

// Not svc_now(), which tests move.
const raise = statement(
  'message_numbers_raise',
  `SELECT setval('message_seq', l.least) FROM message_seq s
  CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS least) l
  WHERE s.last_value < l.least`,
);

/**
 * The numbers of messages go on from the time, in microseconds. They are greater than those of every other server so far, and than
 * those that this one gave before it was restored: so many messages are never made. It stands, whatever becomes of the transaction.
 */
export async function raiseMessageNumbers(db: Queryable): Promise<void> {
  await db.rows(raise);
}
