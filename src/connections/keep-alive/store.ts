import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ConnectionKey } from '../store.ts';

// A connection's own part of the interval, the last fifth spread by its id: what was connected together is not refreshed
// together. SKIP LOCKED and the hold leave each to one node, by the clock of the database.
const claim = statement(
  'connections_claim_idle',
  `UPDATE connection SET keep_alive_at = svc_now() + $4::float8 * interval '1 ms'
   WHERE (project_id, id) IN (
     SELECT c.project_id, c.id FROM unnest($1::text[], $2::float8[]) AS kept (provider, hours)
       JOIN connection c ON c.provider = kept.provider
     WHERE c.status <> 'bad_credentials' AND (c.keep_alive_at IS NULL OR c.keep_alive_at < svc_now())
       AND c.auth_scheme IN ('oauth2/authorizationCode', 'oauth2/authorizationCodePKCE', 'oauth2/password')
       AND coalesce(c.access_issued_at, c.created_at) < svc_now() - interval '1 hour' * kept.hours * 0.8
       AND coalesce(c.access_issued_at, c.created_at)
         < svc_now() - interval '1 hour' * kept.hours * (0.8 + 0.2 * (hashtext(c.id::text) & 1023) / 1023)
     LIMIT $3 FOR UPDATE OF c SKIP LOCKED)
   RETURNING project_id, id`,
);

/** Takes connections that were not refreshed for the hours of their provider, and holds them for `holdMs`. */
export async function claimIdle(
  db: Queryable,
  hours: ReadonlyMap<string, number>,
  { atMost, holdMs }: { atMost: number; holdMs: number },
): Promise<ConnectionKey[]> {
  if (hours.size === 0) return [];
  const values = [[...hours.keys()], [...hours.values()], atMost, holdMs];
  const rows = await db.rows<{ project_id: string; id: string }>(claim, values);
  return rows.map((row) => [row.project_id, row.id]);
}
