import { randomUUID } from 'node:crypto';
import type { Pool, QueryConfig, QueryResult } from 'pg';

/** A pooler that has no session to lend answers nothing. */
const answerTimeoutMs = 5_000;

/**
 * Whether a pooler follows prepared statements from session to session: then it gives them names of its own, and the
 * server does not know ours (PgBouncer from 1.21 with `max_prepared_statements`).
 */
export async function followsNames(pool: Pool): Promise<boolean> {
  const name = `svc_probe_${randomUUID()}`;
  const client = await pool.connect();
  const ask = (query: QueryConfig): Promise<QueryResult> =>
    client.query({ ...query, query_timeout: answerTimeoutMs } as QueryConfig);
  try {
    await ask({ text: 'BEGIN' });
    await ask({ name, text: 'SELECT 1' });
    const found = await ask({
      text: 'SELECT FROM pg_prepared_statements WHERE name = $1',
      values: [name],
    });
    const isOurs = found.rows.length > 0;
    if (isOurs) await ask({ text: `DEALLOCATE "${name}"` });
    await ask({ text: 'COMMIT' });
    return !isOurs;
  } finally {
    client.release(true);
  }
}
