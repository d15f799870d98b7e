import type { Pool, PoolClient } from 'pg';
import { newId } from '../../src/kit/ids.ts';
import { plainRecord } from '../provider.ts';

export const makeOperationTable = `CREATE TABLE bench_operation (
  project_id uuid NOT NULL, id uuid NOT NULL, status text NOT NULL, request json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (project_id, id))`;
const insert = {
  name: 'bench-operation',
  text: 'INSERT INTO bench_operation (project_id, id, status, request) VALUES ($1, $2, $3, $4)',
};

const projectId = newId();
const request = JSON.stringify({ type: 'create', objectName: 'contacts', record: plainRecord });

/** Inserts the operation row of an item, and with it, in one transaction, what `queue` inserts for it. */
export async function withOperation(
  pool: Pool,
  queue: (client: PoolClient, operationId: string) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect();
  try {
    const operationId = newId();
    await client.query('BEGIN');
    await client.query({ ...insert, values: [projectId, operationId, 'in_progress', request] });
    await queue(client, operationId);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
