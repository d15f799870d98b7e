import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import './list-store.ts';

const projectId = '0190a000-0000-7000-8000-00000000000c';
const idOf = `('0190a000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
const count = 20_000;

describe('installations/plans', () => {
  let test: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    test = await createTestDatabase();
    client = new Client({ connectionString: test.url });
    await client.connect();
    const all = `FROM generate_series(1, ${count}) n`;
    await client.query(`
      INSERT INTO customer_group (project_id, group_ref, name) SELECT '${projectId}', 'g' || n, 'g' ${all};
      INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials)
        SELECT '${projectId}', ${idOf}, 'hubspot', 'g' || n, 'c', 'oauth', 'working', '' ${all};
      INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
        SELECT '${projectId}', ${idOf}, '${projectId}', 'g' || n, ${idOf}, ${idOf}, 'x' ${all};
      INSERT INTO config (project_id, installation_id, id, revision_id, created_by, content)
        SELECT '${projectId}', ${idOf}, ${idOf}, '${projectId}', 'x', '{}' ${all};
      ANALYZE`);
  }, 60_000);
  afterAll(async () => {
    await client?.end();
    await test?.drop();
  });

  const page = `'${projectId}', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 100`;
  it.each([
    ['project_any', page, 100],
    ['project_healthy', page, 100],
    ['project_integration_any', `${page}, '${projectId}'`, 100],
    ['project_integration_healthy', `${page}, '${projectId}'`, 100],
    ['project_group_any', `${page}, 'g77'`, 1],
    ['project_group_unhealthy', `${page}, 'g77'`, 1],
    ['project_integration_group_any', `${page}, '${projectId}', 'g77'`, 1],
  ])('a page of installations_of_%s looks at no more than it shows', async (name, given, most) => {
    const statement = `installations_of_${name}`;
    const text = declaredStatements().find((each) => each.name === statement)?.text ?? '';
    for (const mode of ['auto', 'force_custom_plan']) {
      await client.query(`DEALLOCATE ALL; SET plan_cache_mode = ${mode}; PREPARE ${statement} AS ${text}`);
      for (let time = 0; time < 6; time += 1) await client.query(`EXECUTE ${statement}(${given})`);
      const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${statement}(${given})`,
      );
      const looked = [...JSON.stringify(rows).matchAll(/"Actual Rows":([\d.]+)/g)].map(([, n]) => Number(n));
      expect([mode, Math.max(...looked)]).toEqual([mode, most]);
    }
  });
});
