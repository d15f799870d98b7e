import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';

/**
 * Whether a pooler follows prepared statements from session to session: then it gives them names of its own, and the
 * server does not know ours (PgBouncer from 1.21 with `max_prepared_statements`).
 */
export async function followsNames(pool: Pool): Promise<boolean> {
  const name = `svc_probe_${randomUUID()}`;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query({ name, text: 'SELECT 1' });
    const found = await client.query('SELECT FROM pg_prepared_statements WHERE name = $1', [name]);
    const isOurs = found.rows.length > 0;
    if (isOurs) await client.query(`DEALLOCATE "${name}"`);
    await client.query('COMMIT');
    return !isOurs;
  } finally {
    client.release(true);
  }
}
