import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { KeyClaim } from '../work.ts';
import { isKept } from './read.ts';

/** A row of a group that is accepted under a caller's key; `n` is its place in the group, from 1. */
export interface KeyedRow {
  n: number;
  projectId: string;
  operationId: string;
  key: KeyClaim;
}

/** The values of the seven parameters of {@link claimKeys}. */
export function keyColumns(rows: readonly KeyedRow[]): unknown[][] {
  return [
    rows.map((row) => row.n),
    rows.map((row) => row.projectId),
    rows.map((row) => row.operationId),
    rows.map((row) => row.key.principal),
    rows.map((row) => row.key.key),
    rows.map((row) => row.key.hash.toString('hex')),
    rows.map((row) => row.key.forever ?? false),
  ];
}

/**
 * CTEs for a statement that accepts a group, so that a key and what it stands for are one transaction. They claim the keys
 * of the rows whose `n` is in `candidates`; `replayed(n)` holds the rows that must not go in, since their key stands
 * already, in the table or in the group. `first` numbers the first of the parameters; the statement has a CTE `clock(now)`.
 * The order of the insert is that of the keys: two groups never wait for each other.
 */
export function claimKeys(first: number, candidates: string): string {
  const types = ['bigint', 'uuid', 'uuid', 'text', 'text', 'text', 'boolean'];
  const columns = types.map((type, at) => `$${first + at}::${type}[]`).join(', ');
  return `keyed AS MATERIALIZED (
    SELECT * FROM unnest(${columns}) AS k(n, project_id, operation_id, principal, key, hash, forever)
    WHERE k.n IN (SELECT n FROM ${candidates})),
  claimed AS (
    INSERT INTO idempotency (project_id, principal, key, hash, operation_id, expires_at)
    SELECT project_id, principal, key, decode(hash, 'hex'), operation_id,
      CASE WHEN forever THEN 'infinity' ELSE now + interval '7 days' END
    FROM (SELECT DISTINCT ON (project_id, principal, key) * FROM keyed ORDER BY project_id, principal, key, n) k, clock
    ORDER BY project_id, principal, key
    ON CONFLICT (project_id, principal, key) DO NOTHING
    RETURNING project_id, principal, key),
  replayed AS MATERIALIZED (
    SELECT n FROM (
      SELECT k.n, c.key, row_number() OVER (PARTITION BY k.project_id, k.principal, k.key ORDER BY k.n) AS use
      FROM keyed k LEFT JOIN claimed c USING (project_id, principal, key)) u
    WHERE u.key IS NULL OR u.use > 1)`;
}

// Of what is not shown any more it tells nothing. LIMIT keeps the look-up apart, so that it is by the whole key of the operation.
const findKey = statement(
  'key_find',
  `SELECT d.operation_id, encode(d.hash, 'hex') AS hash, d.status AS answer_status, d.response, d.expires_at <= svc_now() AS expired,
    o.status, o.attempts, o.request, o.resolved
  FROM idempotency d
  LEFT JOIN LATERAL (
    SELECT o.status, o.attempts, o.request, o.unknown > 0 AND EXISTS (SELECT FROM record r
      WHERE r.project_id = d.project_id AND r.operation_id = d.operation_id AND r.resolution IS NOT NULL) AS resolved
    FROM operation o
    WHERE o.project_id = d.project_id AND o.id = d.operation_id AND ${isKept} LIMIT 1) o ON true
  WHERE d.project_id = $1 AND d.principal = $2 AND d.key = $3`,
);

const forgetKey = statement(
  'key_forget',
  `DELETE FROM idempotency WHERE project_id = $1 AND principal = $2 AND key = $3 AND expires_at <= svc_now()`,
);

const releaseKey = statement(
  'key_release',
  `DELETE FROM idempotency WHERE project_id = $1 AND principal = $2 AND key = $3 AND operation_id = $4`,
);

const forgetExpiredKeys = statement(
  'key_forget_expired',
  `WITH gone AS (
    DELETE FROM idempotency WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM idempotency WHERE expires_at <= svc_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*)::int AS n FROM gone`,
);

export interface KeyRow {
  operation_id: string;
  hash: string;
  answer_status: number | null;
  response: unknown;
  expired: boolean;
  /** Of the operation; null when its history is gone, or no more to be kept. */
  status: 'in_progress' | 'success' | 'failure' | null;
  attempts: number | null;
  request: Record<string, unknown> | null;
  /** Whether somebody has said since what became of a record of unknown outcome. */
  resolved: boolean | null;
}

export async function find(
  db: Queryable,
  projectId: string,
  { principal, key }: KeyClaim,
): Promise<KeyRow | undefined> {
  return (await db.rows<KeyRow>(findKey, [projectId, principal, key]))[0];
}

/** Makes a key free again whose time is over. */
export async function forget(db: Queryable, projectId: string, { principal, key }: KeyClaim): Promise<void> {
  await db.rows(forgetKey, [projectId, principal, key]);
}

/** Makes a key free again that stands for this operation. */
export async function release(
  db: Queryable,
  projectId: string,
  { principal, key }: KeyClaim,
  operationId: string,
): Promise<void> {
  await db.rows(releaseKey, [projectId, principal, key, operationId]);
}

/** Deletes at most `limit` keys whose time is over, the oldest first; answers how many. */
export async function forgetExpired(db: Queryable, limit: number): Promise<number> {
  return (await db.rows<{ n: number }>(forgetExpiredKeys, [limit]))[0]?.n ?? 0;
}
