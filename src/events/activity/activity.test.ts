import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { newId } from '../../kit/ids.ts';
import { bucketOf, msOf, quantile } from './series.ts';
import { foldActivity, forgetActivity, readActivity } from './store.ts';

describe('events/activity', () => {
  let test: TestDatabase;
  let projectId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  beforeEach(() => {
    projectId = newId();
  });
  afterAll(() => test.drop());

  const add = (rows: number, ago = '0 s') =>
    test.database.raw(
      `INSERT INTO activity_delta SELECT $1, svc_now() - $3::interval, 'write.success', n % 7, 1 FROM generate_series(1, $2::int) n`,
      [projectId, rows, ago],
    );
  const totals = async (): Promise<number[]> => {
    const rows = await test.database.raw(
      'SELECT sum(count)::int AS total FROM activity WHERE project_id = $1 GROUP BY grain ORDER BY grain',
      [projectId],
    );
    return rows.map(({ total }) => Number(total));
  };

  it('counts each once at every grain, whoever folds at the same time', async () => {
    await add(3_000);
    const late = test.database.transaction(async (tx) => {
      await tx.rows(
        {
          name: 'activity_late',
          text: `INSERT INTO activity_delta VALUES ($1, svc_now(), 'write.success', 1, 1)`,
        },
        [projectId],
      );
      await folding();
    });
    async function folding(): Promise<void> {
      const each = Array.from({ length: 4 }, async () => {
        while ((await foldActivity(test.database, 100)) > 0);
      });
      await Promise.all(each);
    }
    await late;
    expect(await totals()).toEqual([3_000, 3_000, 3_000, 3_000]);
    // What was committed late is counted as late.
    await folding();
    expect(await totals()).toEqual([3_001, 3_001, 3_001, 3_001]);
  });

  it('leaves what a fold that was rolled back had taken', async () => {
    await add(10);
    const broken = test.database.transaction(async (tx) => {
      await foldActivity(tx, 100);
      throw new Error('the node died');
    });
    await expect(broken).rejects.toThrow('the node died');
    expect(await totals()).toEqual([]);
    await foldActivity(test.database, 100);
    expect(await totals()).toEqual([10, 10, 10, 10]);
  });

  it('forgets a grain alone, and answers the steps that are asked for', async () => {
    await add(5);
    await add(7, '3 hours');
    while ((await foldActivity(test.database, 100)) > 0);
    const counted = async (steps: number): Promise<number> => {
      const { rows } = await readActivity(test.database, projectId, 'minute', steps);
      return rows.reduce((sum, { count }) => sum + count, 0);
    };
    expect([await counted(60), await counted(300)]).toEqual([5, 12]);
    await forgetActivity(test.database, 'minute', 3_600);
    expect([await counted(300), await totals()]).toEqual([5, [5, 12, 12, 12]]);
  });

  it('tells a duration to within a fifth', () => {
    for (const ms of [1, 2, 17, 250, 999, 65_000, 3_600_000, 2 * 24 * 3_600_000]) {
      expect(msOf(bucketOf(ms)) / ms).toBeGreaterThanOrEqual(1);
      expect(msOf(bucketOf(ms)) / ms).toBeLessThan(1.2);
    }
    expect(bucketOf(-5)).toBe(0);
    expect(quantile(new Map(), 0.5)).toBeUndefined();
  });
});
