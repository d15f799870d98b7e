import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { declaredStatements } from '../../kit/db/statement.ts';
import './index.ts';

const textOf = (name: string): string => declaredStatements().find((each) => each.name === name)?.text ?? '';
const project = '0190a000-0000-7000-8000-00000000000c';

describe('actions/read/plans', () => {
  let test: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    test = await createTestDatabase();
    client = new Client({ connectionString: test.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await test.drop();
  });

  const prepare = async (name: string): Promise<number> => {
    const text = textOf(name);
    await client.query(`DEALLOCATE ALL; PREPARE ${name} AS ${text}`);
    return Math.max(...[...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
  };

  it.each([
    'read_states_of_project',
    'read_states_of_group',
    'installations_configured',
    'installations_declared',
  ])('%s looks by indexes alone, with the plan of empty tables', async (name) => {
    await client.query('SET plan_cache_mode = force_generic_plan');
    const nulls = Array.from({ length: await prepare(name) }, () => 'NULL').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (COSTS OFF) EXECUTE ${name}(${nulls})`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan on');
    const scans = plan.split(/\n(?=.*->)/).filter((node) => /Index (Only )?Scan|Bitmap Index/.test(node));
    expect(scans.length).toBeGreaterThan(1);
    for (const scan of scans) expect(scan).toContain('Index Cond: (');
  });

  it.each(['force_generic_plan', 'force_custom_plan'])(
    'a page looks at no more feeds than it shows, however many there are (%s)',
    async (mode) => {
      await client.query(
        `INSERT INTO read_feed (project_id, installation_id, object, kind, object_name, started_at, watermark)
        SELECT '${project}', ('0190a000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, o, k, o, now(), now()
        FROM generate_series(1, 5000) n, unnest(ARRAY['contacts', 'deals']) o, unnest(ARRAY['records', 'associations']) k
        ON CONFLICT DO NOTHING`,
      );
      await client.query(
        `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
        SELECT '${project}', i, i, 'g' || n % 100, i, i, 'test'
        FROM generate_series(1, 5000) n, LATERAL (SELECT ('0190a000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS i) i
        ON CONFLICT DO NOTHING`,
      );
      await client.query(`ANALYZE read_feed; ANALYZE installation; SET plan_cache_mode = ${mode}`);
      const page = `'${project}', NULL, '0190a000-0000-7000-8000-000000000400', 'contacts', 51, 51, NULL, NULL, NULL`;
      for (const [name, group] of [
        ['read_states_of_project', ''],
        ['read_states_of_group', `, 'g7'`],
      ] as const) {
        await prepare(name);
        const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name}(${page}${group})`,
        );
        const plan = JSON.stringify(rows);
        const looked = [...plan.matchAll(/"Actual Rows":([\d.]+)/g)].map(([, n]) => Number(n));
        expect(looked.length).toBeGreaterThan(5);
        // Installations of a project that has all of them are read in any order.
        expect([name, /"Seq Scan"[^{}]*"Relation Name":"read_/.test(plan)]).toEqual([name, false]);
        expect([name, Math.max(...looked) <= 200]).toEqual([name, true]);
      }
    },
  );
});
