import { statementTimeoutMs } from './database.ts';
import { briefConnection, placed } from './brief.ts';

// A start of the server tells two servers apart, an object id two databases of one. The schema is that of the table `migrations`;
// before there is one, that in which it would be made.
const identity = `SELECT current_database() AS name, concat_ws('/', oid, pg_postmaster_start_time()) AS id,
    (SELECT setting::float8 FROM pg_settings WHERE name = 'statement_timeout') AS "limitMs",
    coalesce((SELECT c.relnamespace::regnamespace::text FROM pg_class c WHERE c.oid = to_regclass('migrations')), current_schema(), 'none') AS schema
  FROM pg_database WHERE datname = current_database()`;

interface Identity {
  name: string;
  id: string;
  schema: string;
  /** Of one statement, as the role or the database sets it; 0: none. */
  limitMs: number;
}

/**
 * Throws unless both lead to the same tables, the first by way of a pooler. Answers with what is wrong with the time limit of its
 * statements: a node sets none in a session that it borrows.
 */
export async function assertSameDatabase(pooledUrl: string, directUrl: string): Promise<string | undefined> {
  const [pooled, direct] = await Promise.all([pooledUrl, directUrl].map(identityOf));
  if (pooled?.id !== direct?.id)
    throw new Error(
      `SVC_DATABASE_DIRECT_URL leads to another database than DATABASE_URL (${direct?.name} and ${pooled?.name}, or two servers): both must lead to the same one`,
    );
  if (pooled?.schema !== direct?.schema)
    throw new Error(
      `SVC_DATABASE_DIRECT_URL leads to another schema than DATABASE_URL (${direct?.schema} and ${pooled?.schema}): give both the same role, or the same search_path`,
    );
  return faultOfLimit(pooled?.limitMs ?? 0);
}

function faultOfLimit(limitMs: number): string | undefined {
  if (limitMs > 0 && limitMs <= statementTimeoutMs) return undefined;
  const limit = limitMs === 0 ? 'no time limit' : `a time limit of ${limitMs / 1_000} s`;
  return `statements by way of the pooler have ${limit}: one that waits for a lock may be done after its caller was told that it was not`;
}

/** What an operator does about it. */
export const limitRemedy = `ALTER ROLE … SET statement_timeout = '${statementTimeoutMs / 1_000}s', of the role of DATABASE_URL; new sessions have it.`;

async function identityOf(url: string): Promise<Identity | undefined> {
  const client = briefConnection(url, 'svc start');
  try {
    await client.connect();
    return (await client.query<Identity>(identity)).rows[0];
  } catch (error) {
    throw placed(url, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
