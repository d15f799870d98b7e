import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { Connection } from './connection.ts';
import { connectionSettings, ownSession } from './database.ts';
import { sqlState } from './faults.ts';

/** 'svc' and 1: the one lock for everything that changes the schema. Transaction-level, so that a pooler does not break it. */
const schemaLock = [0x73_76_63, 1] as const;

/** How long a change of the schema waits for a table each time, and how often. */
export interface Patience {
  lockTimeoutMs: number;
  attempts: number;
}
/** A migration that waits longer than this for a table would make the running nodes queue up behind it. */
export const patiently: Patience = { lockTimeoutMs: 3_000, attempts: 20 };
/** For work that may wait an hour. */
export const briefly: Patience = { lockTimeoutMs: 100, attempts: 5 };

/** A node that asks nothing for this long while it has the lock is lost: the database ends its session, and others go on. */
const idleMs = 10_000;

/** Whether no other node changes the schema now. Waits for none. */
export async function isSchemaFree(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(
    'SELECT pg_try_advisory_xact_lock_shared($1, $2) AS free',
    [...schemaLock],
  );
  return rows[0]?.free === true;
}

/** Does the work in one transaction, while no other node changes the schema. */
export async function underSchemaLock<T>(
  client: Client,
  { lockTimeoutMs, attempts }: Patience,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('BEGIN');
      // Overrides the role's limit for statements: a migration may take long.
      await client.query(
        `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      );
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...schemaLock]);
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      // 55P03 = lock_not_available: let the nodes that hold it go first, then try again.
      if (sqlState(error) !== '55P03' || attempt >= attempts) throw error;
      await sleep(200 + Math.random() * 300);
    }
  }
}

/** A session for a change of the schema. */
export async function withSchemaClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Connection({
    ...connectionSettings(url),
    application_name: 'svc migrate',
    connectionTimeoutMillis: 5_000,
  });
  return ownSession(async () => {
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  });
}
