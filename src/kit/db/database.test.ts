import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { isDatabaseAway, openDatabase, sqlState } from './database.ts';

describe('src/kit/db/database', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const backend = { name: 'test_backend', text: 'SELECT pg_backend_pid() AS pid' };

  it('keeps numbers of stored JSON as they were stored', async () => {
    const [row] = await test.database.raw(`SELECT '{"a":9007199254740993,"b":1e400}'::json AS j`);
    expect(JSON.stringify(row?.['j'])).toBe('{"a":9007199254740993,"b":1e400}');
  });

  it('rolls back what a failing transaction did, and the connection can be used again', async () => {
    await test.database.raw('CREATE TABLE kept (id int PRIMARY KEY)');
    const insert = { name: 'test_insert', text: 'INSERT INTO kept VALUES ($1)' };
    const failing = test.database.transaction(async (tx) => {
      await tx.rows(insert, [1]);
      await tx.rows(insert, [1]);
    });
    expect(sqlState(await failing.catch((error: unknown) => error))).toBe('23505');
    expect(await test.database.raw('SELECT * FROM kept')).toEqual([]);
  });

  it('does not pass a transaction off as committed when a failure inside it was swallowed', async () => {
    const broken = { name: 'test_broken', text: 'SELECT 1 / 0' };
    const swallowing = test.database.transaction(async (tx) => {
      await tx.rows(broken).catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow('rolled back');
  });

  it('survives the end of a connection between two statements of a transaction', async () => {
    const failing = test.database.transaction(async (tx) => {
      const [own] = await tx.rows<{ pid: number }>(backend);
      await test.database.raw('SELECT pg_terminate_backend($1)', [own!.pid]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await tx.rows(backend);
    });
    expect(isDatabaseAway(await failing.catch((error: unknown) => error))).toBe(true);
    expect(await test.database.raw('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('calls a server that cannot be reached what it is', async () => {
    const nowhere = openDatabase({
      url: 'postgresql://svc@127.0.0.1:1/svc',
      poolSize: 1,
      applicationName: 'test',
    });
    await expect(nowhere.rows(backend)).rejects.toMatchObject({ code: 'database-unavailable', status: 503 });
    await nowhere.close();
  });
});
