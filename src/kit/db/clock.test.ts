import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';

describe('kit/db clock', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('costs a statement no function call, and no row that has it as a default', async () => {
    const plan = await test.database.raw(
      'EXPLAIN (VERBOSE, COSTS OFF) SELECT svc_now() FROM generate_series(1, 2)',
    );
    expect(plan.map((row) => row['QUERY PLAN'])).toContain('  Output: now()');
  });

  it('can be moved, which statements that were planned before see at once', async () => {
    const ahead = {
      name: 'test_ahead',
      text: 'SELECT extract(epoch FROM svc_now() - now())::int AS seconds',
    };
    const seen = [];
    for (const shift of ['0', '90 minutes', '-1 day 2 seconds', '0']) {
      for (let n = 0; n < 6; n += 1) await test.database.rows(ahead);
      await test.database.raw('UPDATE clock SET shift = $1', [shift]);
      seen.push(...(await test.database.rows<{ seconds: number }>(ahead)).map(({ seconds }) => seconds));
    }
    expect(seen).toEqual([0, 5_400, -86_398, 0]);
  });
});
