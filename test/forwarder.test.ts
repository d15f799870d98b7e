import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../src/kit/db/database.ts';
import { statement } from '../src/kit/db/statement.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startForwarder, type Forwarder } from './forwarder.ts';

const insert = statement('test_insert', 'INSERT INTO noted VALUES (1)');
const count = statement('test_count', 'SELECT count(*)::int AS count FROM noted');

describe('test/forwarder', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let database: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw('CREATE TABLE noted (n int)');
    wire = await startForwarder(test.url);
    database = openDatabase({ url: wire.url, poolSize: 1, applicationName: 'test' });
    // Connected, and ready for its statements.
    await database.rows(count);
  });
  afterAll(async () => {
    await database?.close();
    await wire?.close();
    await test?.drop();
  });

  it.each([
    ['BEGIN', 1],
    ['a statement within a transaction', 2],
    ['COMMIT', 3],
  ])('refuses %s, and nothing of the transaction is there', async (_what, at) => {
    const told: string[] = [];
    let draws = 0;
    wire.refuse(['42501'], 0.5, () => {
      draws += 1;
      return draws === at ? 0.1 : draws === at + 1 ? 0 : 0.9;
    });
    const work = database.transaction(async (tx) => {
      await tx.rows(insert);
      told.push('done');
    });
    await expect(work).rejects.toMatchObject({ code: 'database-unavailable' });
    expect(told).toEqual(at === 3 ? ['done'] : []);
    wire.heal();
    expect(await database.rows(count)).toEqual([{ count: 0 }]);
  });
});
