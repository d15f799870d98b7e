import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { declaredStatements } from '../../kit/db/statement.ts';
import './index.ts';

const hot = [
  'lane_fold',
  'lane_claim',
  'lane_extend',
  'lane_give_back',
  'lane_claim_with_batches',
  'lane_give_back_with_batches',
  'work_take',
  'work_rescue',
  'work_put_back',
  'ledger_load',
  'ledger_payloads',
  'work_record',
  'work_mark_parked',
  'work_stray',
  'ledger_find_marked',
  'work_withdraw',
  'ledger_accept',
  'ledger_accept_plain',
  'ledger_find_accepted',
  'operation_find',
  'operation_list',
  'operations_of_project',
  'operations_of_installation',
  'operations_of_group',
  'operations_marked',
  'operations_of_project_oldest',
  'operations_of_installation_oldest',
  'operations_of_group_oldest',
  'operations_marked_oldest',
  'operations_gathering',
  'operations_pick',
  'operation_written',
  'record_resolve',
  'ab_insert',
  'ab_find',
  'ab_find_keys',
  'ab_wake_overdue',
  'key_find',
  'key_forget',
  'key_forget_expired',
];

describe('actions/write/plans', () => {
  let test: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    test = await createTestDatabase();
    // The worst case: a plan made while the tables are empty, which is kept when they have grown.
    await test.database.raw('VACUUM ANALYZE work, turn, lane, wake, ab_head, ab_batch');
    client = new Client({ connectionString: test.url });
    await client.connect();
    await client.query('SET plan_cache_mode = force_generic_plan');
  });
  afterAll(async () => {
    await client.end();
    await test.drop();
  });

  it.each(hot)(
    '%s reads the work tables and the history by their indexes, whatever their size',
    async (name) => {
      const found = declaredStatements().find((one) => one.name === name);
      if (!found) throw new Error(`${name} is not declared`);
      const parameters = Math.max(
        0,
        ...[...found.text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])),
      );
      await client.query(`PREPARE ${name} AS ${found.text}`);
      const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ');
      const explained = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN EXECUTE ${name}${parameters > 0 ? `(${nulls})` : ''}`,
      );
      const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
      if (process.env['SHOW_PLANS']) process.stdout.write(`${plan}\n\n`);
      expect(plan).not.toMatch(/Seq Scan on (work|turn|lane|wake|operation|record|idempotency|ab_)/);
      for (const scan of plan
        .split(/\n(?=.*->)/)
        .filter((node) => /Index (Only )?Scan using (work|turn|lane|wake|operation|record)/.test(node))) {
        expect(scan).toMatch(/Index Cond: /);
      }
      // A project's whole backlog is not a condition; and without the project a key is looked for in the whole index.
      expect(plan).not.toMatch(/Index Cond: \(project_id = [^)]*\)\n/);
      expect(plan).not.toMatch(
        /_pkey on (work|turn|lane|operation|record)\S* .*\n *Index Cond: (?!\(\(project_id = )/,
      );
    },
  );

  it('functions that are held to indexes have no machine code made, whatever the session says', async () => {
    const held = await client.query(
      `SELECT proname, 'jit=off' = ANY (proconfig) AS plain FROM pg_proc WHERE 'enable_seqscan=off' = ANY (proconfig)`,
    );
    expect(held.rows.length).toBeGreaterThan(0);
    expect(held.rows.filter(({ plain }) => !plain)).toEqual([]);
  });
});
