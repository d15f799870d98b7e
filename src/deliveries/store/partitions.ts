import type { Database } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

const rotate = statement('messages_rotate', 'SELECT svc_rotate_messages($1)');
/** One node at a time makes and drops partitions. */
const lock = statement('messages_rotate_lock', 'SELECT pg_try_advisory_xact_lock(7567971, 4) AS taken');

/** Makes the partitions of the coming days and drops the old ones; nothing while another node does. */
export async function rotateMessages(database: Database, keepDays: number): Promise<void> {
  await database.transaction(async (tx) => {
    const [found] = await tx.rows<{ taken: boolean }>(lock);
    if (found?.taken) await tx.rows(rotate, [keepDays]);
  });
}
