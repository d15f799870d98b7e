import { Pool } from 'pg';
import { newId } from '../../src/kit/ids.ts';
import type { Figure } from '../figure.ts';
import { closedLoad } from '../load.ts';
import { startServer, startStage } from '../stage.ts';

const callers = 64;
const seconds = 4;
const record = {
  email: 'someone@example.com',
  firstname: 'Some',
  lastname: 'One',
  phone: '+41 31 000 00 00',
};

/** One row as the ledger keeps it for one write, in a plain table with the same primary key. */
const makeTable = `CREATE TABLE bench_row (
  project_id uuid NOT NULL, id uuid NOT NULL, installation_id uuid NOT NULL, status text NOT NULL, request json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (project_id, id))`;
const insert = {
  name: 'bench-insert',
  text: 'INSERT INTO bench_row (project_id, id, installation_id, status, request) VALUES ($1, $2, $3, $4, $5)',
};

/** Accepted asynchronous writes, against single-row inserts of the same row by a bare client. */
export const accept: Figure = {
  id: 'accept-async',
  about: `asynchronous single writes accepted over HTTP, ${callers} callers`,
  unit: 'writes/s',
  yardstick: `single-row inserts by a bare pg client, ${callers} connections`,
  goal: { of: 'ratio', atLeast: 1 },
  prepare: async () => {
    const upstream = await startServer('upstream.ts');
    const stage = await startStage(`http://127.0.0.1:${upstream.port}`, 'api');
    const pool = new Pool({ connectionString: stage.databaseUrl, max: callers });
    await pool.query(makeTable);
    const path = `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`;
    const body = JSON.stringify({ groupRef: 'g', type: 'create', mode: 'asynchronous', record });
    const headers = { 'x-api-key': stage.apiKey, 'content-type': 'application/json' };
    return {
      run: async () => ({
        value: (
          await closedLoad({ origin: stage.base, path, method: 'POST', headers, body }, callers, seconds)
        ).perSecond,
        yardstick: await insertsPerSecond(pool, stage.projectId, stage.installationId, body),
      }),
      close: async () => {
        await pool.end();
        await stage.close();
        await upstream.close();
      },
    };
  },
};

async function insertsPerSecond(
  pool: Pool,
  projectId: string,
  installationId: string,
  request: string,
): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endAt) {
        await pool.query({ ...insert, values: [projectId, newId(), installationId, 'in_progress', request] });
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - startedAt) / 1000);
}
