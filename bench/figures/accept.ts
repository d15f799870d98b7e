import type { Pool } from 'pg';
import { newId } from '../../src/kit/ids.ts';
import type { Figure } from '../figure.ts';
import { rawLoad } from '../raw-load.ts';
import { openPool } from '../postgres.ts';
import { writes } from '../install.ts';
import { startServer, startStage } from '../stage.ts';

export const acceptCallers = 64;
export const insertYardstick = `single-row inserts by a bare pg client, ${acceptCallers} connections`;
const seconds = 4;
export const acceptRecord = {
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

/** Something that accepts writes, and what its yardstick is run in. */
export interface Acceptance {
  /** Writes accepted per second over HTTP; each call of `object` names the object of one request. */
  acceptsPerSecond(object: () => string, body: string): Promise<number>;
  insertsPerSecond(body: string): Promise<number>;
  close(): Promise<void>;
}

export async function startAcceptance(objects: readonly string[] = ['contacts']): Promise<Acceptance> {
  const upstream = await startServer('upstream.ts');
  const stage = await startStage(`http://127.0.0.1:${upstream.port}`, {
    role: 'api',
    actions: writes(objects),
  });
  const pool = openPool(stage.databaseUrl, acceptCallers);
  await pool.query(makeTable);
  const base = `/write/v1/projects/${stage.projectId}/integrations/crm/objects/`;
  const headers = { 'x-api-key': stage.apiKey, 'content-type': 'application/json' };
  return {
    async acceptsPerSecond(object, body) {
      const target = {
        origin: stage.base,
        path: () => base + object(),
        method: 'POST',
        headers,
        body,
      } as const;
      return rawLoad(target, acceptCallers, seconds);
    },
    insertsPerSecond: (body) => insertsPerSecond(pool, stage.projectId, stage.installationId, body),
    close: async () => {
      await pool.end();
      await stage.close();
      await upstream.close();
    },
  };
}

/** Accepted asynchronous writes, against single-row inserts of the same row by a bare client. */
export const accept: Figure = {
  id: 'accept-async',
  about: `asynchronous single writes accepted over HTTP, ${acceptCallers} callers`,
  unit: 'writes/s',
  yardstick: insertYardstick,
  goal: { of: 'ratio', atLeast: 1 },
  prepare: async () => {
    const acceptance = await startAcceptance();
    const body = JSON.stringify({
      groupRef: 'g',
      type: 'create',
      mode: 'asynchronous',
      record: acceptRecord,
    });
    return {
      run: async () => ({
        value: await acceptance.acceptsPerSecond(() => 'contacts', body),
        yardstick: await acceptance.insertsPerSecond(body),
      }),
      close: () => acceptance.close(),
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
    Array.from({ length: acceptCallers }, async () => {
      while (performance.now() < endAt) {
        await pool.query({ ...insert, values: [projectId, newId(), installationId, 'in_progress', request] });
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - startedAt) / 1000);
}
