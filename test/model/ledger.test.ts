import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { runHistories } from './histories.ts';
import { createSqlStore } from './sql-store.ts';
import { createMemoryStore } from './store.ts';

/*
 * The decisions are the product's own in every history: the plan, the calls, the judgement of answers, the resolution of lost
 * ones, the next step, what is recorded. What keeps them in between is a double in memory for the many histories, since a
 * history on a database takes a hundred times as long, and the product's own statements for a few hundred of the same kind.
 */
describe('test/model/ledger', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 1 });
    await test.database.raw('SET synchronous_commit = off');
  });
  afterAll(() => test.drop());

  const runs = Number(process.env['MODEL_RUNS'] ?? 20_000);

  it('keeps every promise in 20,000 histories of claims, marks, sends and records in any order', async () => {
    await expect(runHistories(createMemoryStore, { runs, checkEveryStep: true })).resolves.toBeUndefined();
  }, 240_000);

  it('keeps them in 300 histories upon its own statements', async () => {
    const options = { runs: Math.ceil(runs * 0.015), checkEveryStep: false };
    await expect(runHistories(() => createSqlStore(test.database), options)).resolves.toBeUndefined();
  }, 240_000);
});
