import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { runHistories } from './histories.ts';
import { createSqlStore } from './sql-store.ts';
import { createMemoryStore } from './store.ts';

/*
 * In every history the decisions are the product's own: the plan, the calls, the judgement of answers, the resolution of lost
 * ones, the next step, what is recorded. Most histories keep the state in a double in memory, since a history on a database takes
 * a hundred times as long. A few hundred of the same kind keep it by the product's own statements.
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

  it('keeps them in 300 histories on its own statements', async () => {
    const options = { runs: Math.ceil(runs * 0.015), checkEveryStep: false };
    await expect(runHistories(() => createSqlStore(test.database), options)).resolves.toBeUndefined();
  }, 240_000);
});
