import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { watchSkew } from './skew.ts';

describe('src/kit/db/skew', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('tells once of each difference between the clocks, and when it is over', async () => {
    const told: string[] = [];
    let aheadMs = 0;
    let looks = 0;
    const clock = (): number => {
      looks += 1;
      return Date.now() + aheadMs;
    };
    const end = watchSkew(
      test.database,
      {
        onSkewed: (ms) => told.push(`${Math.round(ms / 60_000)} min`),
        onRight: () => told.push('right'),
      },
      { clock, everyMs: 20 },
    );
    const afterLooks = async (): Promise<string[]> => {
      const before = looks;
      await expect.poll(() => looks).toBeGreaterThan(before + 6);
      return told.splice(0);
    };
    try {
      expect(await afterLooks()).toEqual([]);
      aheadMs = 2 * 3_600_000;
      expect(await afterLooks()).toEqual(['120 min']);
      expect(await afterLooks()).toEqual([]);
      aheadMs = -5 * 60_000;
      expect(await afterLooks()).toEqual(['-5 min']);
      aheadMs = 0;
      expect(await afterLooks()).toEqual(['right']);
    } finally {
      end();
    }
  });
});
