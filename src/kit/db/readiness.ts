import type { Database } from './database.ts';
import { isDatabaseAway, isRefused } from './faults.ts';
import { statement } from './statement.ts';
import { problem } from '../problem.ts';

/** History is partitioned by the time of the node that accepts: further from that of the database there may be no partition. */
const mostSkewMs = 24 * 3_600_000;

// From a table of ours: a role that lost its rights there can do nothing. Not svc_now(), which tests move.
const look = statement(
  'readiness',
  `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    floor(extract(epoch FROM now()) * 1000)::float8 AS now FROM clock`,
);

/** Throws database-unavailable or clock-wrong unless this node can take work. */
export async function assertReady(
  database: Pick<Database, 'rows' | 'refusal'>,
  clock = Date.now,
): Promise<void> {
  const [row] = await database
    .rows<{ isReadOnly: boolean; now: number }>(look)
    .catch((error: unknown): never => {
      if (isDatabaseAway(error) && !isRefused(error)) throw error;
      const { cause } = error as Error;
      const reason = cause instanceof Error ? cause.message : String(error);
      const detail = `The database does not let this service work: ${reason}.`;
      throw problem('database-unavailable', { detail, cause: error });
    });
  if (row?.isReadOnly)
    throw problem('database-unavailable', {
      detail: 'The database takes no changes: it is a replica, or set to read-only.',
    });
  const refusal = database.refusal();
  if (refusal !== undefined)
    throw problem('database-unavailable', {
      detail: `The database takes no changes: ${refusal instanceof Error ? refusal.message : 'it refuses them'}.`,
      cause: refusal,
    });
  const aheadMs = row ? clock() - row.now : 0;
  if (Math.abs(aheadMs) <= mostSkewMs) return;
  const hours = Math.round(Math.abs(aheadMs) / 3_600_000);
  throw problem('clock-wrong', {
    detail: `The clock of this node is ${hours} hours ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database.`,
  });
}
