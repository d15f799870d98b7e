import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { createLog } from '../kit/log.ts';
import { createVacuum } from './vacuum.ts';

describe('lanes/vacuum', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const vacuums = async (): Promise<number> => {
    // The statistics of the session that vacuumed arrive a little later.
    await test.database.raw('SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()');
    const [row] = await test.database.raw(
      "SELECT sum(vacuum_count)::int AS n FROM pg_stat_user_tables WHERE relname IN ('work', 'turn', 'lane', 'wake')",
    );
    return Number(row?.['n']);
  };

  it('runs VACUUM on the work tables after 50,000 completions, and not before', async () => {
    const vacuum = createVacuum(test.database, createLog('silent'), []);
    vacuum.ended(49_999);
    await vacuum.stop();
    expect(await vacuums()).toBe(0);
    vacuum.ended(1);
    await vacuum.stop();
    await expect.poll(vacuums, { timeout: 10_000 }).toBe(4);
  });
});
