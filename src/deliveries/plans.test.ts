import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import './index.ts';

const hot = [
  'destinations_load',
  'messages_load',
  'deliveries_record',
  'messages_keep',
  'message_result',
  'message_links',
];

const textOf = (name: string): string => declaredStatements().find((each) => each.name === name)?.text ?? '';

describe('deliveries/plans', () => {
  let test: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    test = await createTestDatabase();
    client = new Client({ connectionString: test.url });
    await client.connect();
    // The worst case: a plan made while the tables are empty, which is kept when they have grown.
    await client.query('SET plan_cache_mode = force_generic_plan');
  });
  afterAll(async () => {
    await client.end();
    await test.drop();
  });

  it.each(hot)('%s finds destinations, messages and deliveries by their whole keys', async (name) => {
    const text = textOf(name);
    const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
    await client.query(`PREPARE ${name} AS ${text}`);
    const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ');
    const explained = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (COSTS OFF) EXECUTE ${name}(${nulls})`,
    );
    const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on (destination|message|delivery)/);
    // By its name a destination is looked for rarely, and that takes its index once there are statistics.
    expect(plan.replace(/Index Cond: .*\n *Filter: \(lower\(name\) = .*/, '')).not.toMatch(
      /Index Cond: \(project_id = [^)]*\)\n/,
    );
  });

  it('a deletion looks at what waits in the lane of the destination, and at what is under way', async () => {
    await client.query(
      `SET plan_cache_mode = force_generic_plan; PREPARE gone AS ${textOf('destination_delete')}`,
    );
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      'EXPLAIN (COSTS OFF) EXECUTE gone(NULL, NULL)',
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan');
    expect(plan.match(/work_\w+ on work/g)).toEqual(['work_ready on work', 'work_sent on work']);
  });

  const lists = ['project', 'group', 'destination', 'installation', 'object'].map(
    (name) => `deliveries_of_${name}`,
  );
  it.each(['force_generic_plan', 'force_custom_plan'])(
    'a list looks at no more messages than it shows, however many there are (%s)',
    async (mode) => {
      const id = '0190a000-0000-7000-8000-00000000000c';
      await client.query(
        `INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
        SELECT '${id}', (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '${id}', 'g', 'contacts', '${id}', 0, 0, 1, 2, 0, '{}', '[]'
        FROM generate_series(1, 20000) n`,
      );
      await client.query(`ANALYZE message; SET plan_cache_mode = ${mode}`);
      for (const name of lists) {
        await client.query(`DEALLOCATE ALL; PREPARE ${name} AS ${textOf(name)}`);
        const given = {
          group: `NULL, 'g', NULL, NULL, NULL`,
          object: `NULL, NULL, 'contacts', NULL, NULL`,
          destination: `NULL, NULL, NULL, '${id}', NULL`,
          installation: `NULL, NULL, NULL, NULL, '${id}'`,
        }[name.slice('deliveries_of_'.length)];
        const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name}('${id}', '${'f'.repeat(8)}-ffff-ffff-ffff-ffffffffffff', NULL, 100,
            ${given ?? 'NULL, NULL, NULL, NULL, NULL'}, NULL, NULL)`,
        );
        const looked = [...JSON.stringify(rows).matchAll(/"Actual Rows":([\d.]+)/g)].map(([, n]) =>
          Number(n),
        );
        expect([name, Math.max(...looked)]).toEqual([name, 100]);
      }
    },
  );
});
