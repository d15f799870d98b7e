import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startForwarder } from '../../../test/forwarder.ts';
import { keepPartitions } from './partitions.ts';
import { withSchemaClient } from './schema-lock.ts';
import { openDatabase } from './database.ts';
import { faultOf, isDatabaseAway, sqlState } from './faults.ts';

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

  it('has no machine code made for its statements', async () => {
    const { directUrl: url } = test.database;
    const direct = openDatabase({ url, poolSize: 1, applicationName: 'test' });
    expect(await direct.raw('SHOW jit')).toEqual([{ jit: 'off' }]);
    await direct.close();
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

  it('calls an outage the same where a session of its own is needed: for changes of the schema, and to notify', async () => {
    const wire = await startForwarder(test.url);
    const database = openDatabase({ url: wire.url, poolSize: 1, applicationName: 'test' });
    wire.cut('refuse');
    const away = { code: 'database-unavailable' };
    await expect(withSchemaClient(wire.url, (client) => client.query('SELECT 1'))).rejects.toMatchObject(
      away,
    );
    const table = { table: 'event', key: 'created_at', by: 'day', ahead: 1 } as const;
    await expect(keepPartitions(database, [table])).rejects.toMatchObject(away);
    await expect(database.notices.notify('told')).rejects.toMatchObject(away);
    // Until it connects anew.
    await expect(database.notices.notify('told')).rejects.toMatchObject(away);
    await database.close();
    await wire.close();
  });

  it('makes a single statement again that a conflict rolled back', async () => {
    const wire = await startForwarder(test.url);
    const database = openDatabase({ url: wire.url, poolSize: 2, applicationName: 'test' });
    wire.refuse(['40001', '40P01', '55P03'], 0.2);
    const answers = await Promise.allSettled(Array.from({ length: 100 }, () => database.rows(backend)));
    // One in 625 is refused four times in a row.
    expect(answers.filter(({ status }) => status === 'rejected').length).toBeLessThan(5);
    await database.close();
    await wire.close();
  });

  it.each(['40001', '55P03', '57014', '25006', '53200'])(
    'says that the database is not able to do anything now when it says so (%s)',
    async (state) => {
      const wire = await startForwarder(test.url);
      const database = openDatabase({ url: wire.url, poolSize: 1, applicationName: 'test' });
      wire.refuse([state], 1);
      const error: unknown = await database.rows(backend).catch((fault: unknown) => fault);
      expect(error).toMatchObject({ code: 'database-unavailable', status: 503, retryable: true });
      expect(faultOf(error)).toBe('unable');
      wire.heal();
      expect(await database.rows(backend)).toHaveLength(1);
      await database.close();
      await wire.close();
    },
  );

  it('tells what a transaction changed also where the answer to its commit was lost, and not where it did not arrive', async () => {
    const wire = await startForwarder(test.url);
    const database = openDatabase({ url: wire.url, poolSize: 1, applicationName: 'test' });
    const told: string[] = [];
    database.onTold((projectId, { id }) => void told.push(`${projectId} ${id}`));
    const change = (id: string): Promise<void> =>
      database.transaction(async (tx) => {
        tx.tell('p', { type: 'operation', id });
        await tx.rows(backend);
      });
    wire.loseCommit();
    await expect(change('unsaid')).rejects.toMatchObject({ code: 'database-unavailable' });
    wire.breakAt(backend.text);
    await expect(change('undone')).rejects.toMatchObject({ code: 'database-unavailable' });
    await change('done');
    expect(told).toEqual(['p unsaid', 'p done']);
    await database.close();
    await wire.close();
  });

  it.each(['25006', '53100'])('says that it takes no changes where it answers so (%s)', async (state) => {
    const wire = await startForwarder(test.url);
    const database = openDatabase({ url: wire.url, poolSize: 1, applicationName: 'test' });
    wire.refuse([state], 1);
    await expect(database.rows(backend)).rejects.toMatchObject({
      code: 'database-unavailable',
      message: expect.stringContaining('answers and takes no changes') as string,
    });
    await database.close();
    await wire.close();
  });

  it('a transaction that met a conflict is rolled back on its connection, which serves on', async () => {
    const single = openDatabase({ url: test.url, poolSize: 1, applicationName: 'test' });
    const [before] = await single.rows<{ pid: number }>(backend);
    const conflict = {
      name: 'test_conflict',
      text: `DO $$ BEGIN RAISE EXCEPTION 'rolled back' USING ERRCODE = '40001'; END $$`,
    };
    await expect(single.transaction((tx) => tx.rows(conflict))).rejects.toMatchObject({
      code: 'database-unavailable',
    });
    expect(await single.rows(backend)).toEqual([before]);
    await single.close();
  });
});
