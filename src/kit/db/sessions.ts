import { randomUUID } from 'node:crypto';
import { briefConnection, placed } from './brief.ts';
import type { Connection } from './connection.ts';
import { asProblem, keepsNoSessions } from './faults.ts';

const keep = "SELECT set_config('svc.session', $1, false)";
const look = "SELECT current_setting('svc.session', true) AS kept";

/** Throws where a session is handed to others between two transactions, as by a pooler: what is set in one is not there, or is another's. */
export async function assertKeepsSessions(url: string): Promise<void> {
  const [one, other] = [briefConnection(url, 'svc start'), briefConnection(url, 'svc start')];
  try {
    await Promise.all([one.connect(), other.connect()]);
    const mine = randomUUID();
    await one.query(keep, [mine]);
    if ((await keptIn(other)) === mine) throw new Error(keepsNoSessions);
    // Holds the session that was at rest.
    await other.query('BEGIN');
    if ((await keptIn(one)) !== mine) throw new Error(keepsNoSessions);
    await other.query('COMMIT');
  } catch (error) {
    throw asProblem(placed(url, error));
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => undefined)));
  }
}

async function keptIn(client: Connection): Promise<string | null | undefined> {
  return (await client.query<{ kept: string | null }>(look)).rows[0]?.kept;
}
