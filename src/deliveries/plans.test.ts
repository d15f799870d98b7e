import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import './index.ts';

const hot = ['destinations_load', 'messages_load', 'deliveries_record', 'messages_keep', 'message_result'];

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
    const text = declaredStatements().find((each) => each.name === name)?.text ?? '';
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
});
