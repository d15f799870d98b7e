import { Connection } from './connection.ts';
import { connectionSettings } from './database.ts';

// A start of the server tells two servers apart, an object id two databases of one.
const identity = `SELECT current_database() AS name, concat_ws('/', oid, pg_postmaster_start_time()) AS id
  FROM pg_database WHERE datname = current_database()`;

interface Identity {
  name: string;
  id: string;
}

/** Throws unless both lead to one database, the first by way of a pooler. */
export async function assertSameDatabase(pooledUrl: string, directUrl: string): Promise<void> {
  const [pooled, direct] = await Promise.all([pooledUrl, directUrl].map(identityOf));
  if (pooled?.id === direct?.id) return;
  throw new Error(
    `SVC_DATABASE_DIRECT_URL leads to another database than DATABASE_URL (${direct?.name} and ${pooled?.name}, or two servers): both must lead to the same one`,
  );
}

async function identityOf(url: string): Promise<Identity | undefined> {
  const client = new Connection({ ...connectionSettings(url), application_name: 'svc start' });
  try {
    await client.connect();
    return (await client.query<Identity>(identity)).rows[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}
