import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateDatabase } from '../../src/app.ts';
import { createLog } from '../../src/kit/log.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

const history = ['operation', 'record', 'operation_log'];

describe('test/upgrade/beside-a-backup', () => {
  let test: TestDatabase;
  let backup: Client;
  beforeAll(async () => {
    test = await createTestDatabase();
    // As an early release left them.
    for (const table of history)
      await test.database.raw(`CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT`);
    backup = new Client({ connectionString: test.url });
    await backup.connect();
    await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    for (const table of history) await backup.query(`LOCK TABLE ${table} IN ACCESS SHARE MODE`);
  });
  afterAll(async () => {
    await backup.end();
    await test.drop();
  });

  it('a node starts, though a backup holds a default partition that is to go', async () => {
    const since = performance.now();
    expect(await migrateDatabase(test.url, createLog('silent'))).toEqual([]);
    expect(performance.now() - since).toBeLessThan(25_000);
  }, 60_000);
});
