import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';

const countLapsed = statement(
  'connections_lapsed',
  `SELECT provider, count(*)::int AS count FROM connection
   WHERE access_expires_at < now() AND status <> 'bad_credentials' GROUP BY provider ORDER BY provider`,
);

const listed = 'SELECT DISTINCT provider FROM connection ORDER BY provider LIMIT 100';
const listProviders = statement('connections_providers', listed);

/** Those that somebody is connected with. */
export function connectedProviders(db: Queryable): Promise<{ provider: string }[]> {
  return db.rows(listProviders);
}

/** How many connections of each provider have an access token that has ended, so that it was, or is to be, renewed. */
export function countLapsedTokens(db: Queryable): Promise<{ provider: string; count: number }[]> {
  return db.rows(countLapsed);
}
