import { Client } from 'pg';
import { wholeProject } from '../../src/events/index.ts';
import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { createReader } from '../../src/operations/index.ts';
import { scaled, type Figure } from '../figure.ts';
import { startStage } from '../stage.ts';

const many = scaled(10_000_000);
const few = 1_000;
/** So many rows a statement: its time is limited. */
const part = 100_000;
const times = 300;
const [manyOf, fewOf] = ['0190a000-0000-7000-8000-00000000000c', '0190a000-0000-7000-8000-00000000000d'];

async function fill(database: Database, project: string, operations: number): Promise<void> {
  for (let from = 0; from < operations; from += part)
    await database.raw(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      SELECT '${project}', (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '${project}', '${project}',
        '${project}', 'write', '{"type":"create"}', 'contacts', CASE WHEN n % 4 = 0 THEN 'failure' ELSE 'success' END, 1
      FROM generate_series(${from + 1}, ${Math.min(from + part, operations)}) n`,
    );
}

/** A quarter failed. */
async function mark(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO operation_mark SELECT project_id, 'failure', id FROM operation WHERE status = 'failure'`,
  );
  await client.query('VACUUM ANALYZE operation, operation_mark');
  await client.end();
}

/** The pages of both projects are asked for in turn; the ledger of both is in one table. */
export const listOperations: Figure = {
  id: 'list-operations',
  about: `the first page of the operations that failed, of ${many}: a page of 200, ${times} times`,
  unit: 'ms',
  yardstick: `the same of a project with ${few}`,
  goal: { of: 'ratio', atMost: 2 },
  prepare: async () => {
    const stage = await startStage('http://127.0.0.1:9', { groups: [], role: 'api' });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 1, applicationName: 'svc bench' });
    const reader = createReader(database);
    await fill(database, fewOf, few);
    await fill(database, manyOf, many);
    await mark(stage.databaseUrl);
    const page = async (project: string): Promise<number> => {
      const startedAt = performance.now();
      const query = { status: 'failure', pageSize: 200 } as const;
      const { results } = await reader.listAll(wholeProject(project), query);
      if (results.length !== 200) throw new Error('a page is not full');
      return performance.now() - startedAt;
    };
    return {
      run: async () => {
        const pair = { value: 0, yardstick: 0 };
        for (let n = 0; n < times; n += 1) {
          pair.value += (await page(manyOf)) / times;
          pair.yardstick += (await page(fewOf)) / times;
        }
        return pair;
      },
      async close() {
        await database.close();
        await stage.close();
      },
    };
  },
};
