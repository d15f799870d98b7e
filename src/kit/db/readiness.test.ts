import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { injectErrors } from '../../../test/injected-errors.ts';
import { openDatabase } from './database.ts';
import { assertReady } from './readiness.ts';

describe('src/kit/db/readiness', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  /** With a session that begins now. */
  async function ready(clock?: () => number): Promise<unknown> {
    const database = openDatabase({ url: test.url, poolSize: 1, applicationName: 'svc test' });
    try {
      return await assertReady(database, clock).then(
        () => 'ready',
        (error: unknown) => error,
      );
    } finally {
      await database.close();
    }
  }

  it('is ready where work can be kept', async () => {
    expect(await ready()).toBe('ready');
    expect(await ready(() => Date.now() - 3_600_000)).toBe('ready');
  });

  it('is not while the clock is far from that of the database', async () => {
    expect(await ready(() => Date.now() - 40 * 86_400_000)).toMatchObject({
      code: 'clock-wrong',
      status: 503,
      message: 'The clock of this node is 960 hours behind that of the database.',
    });
    expect(await ready(() => Date.now() + 200 * 86_400_000)).toMatchObject({ code: 'clock-wrong' });
  });

  it('is not while the database takes no changes, or lets its role do nothing', async () => {
    const name = new URL(test.url).pathname.slice(1);
    await test.database.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await ready()).toMatchObject({
      code: 'database-unavailable',
      message: expect.stringContaining('takes no changes'),
    });
    await test.database.raw(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await test.database.raw('ALTER TABLE clock RENAME TO hidden');
    expect(await ready()).toMatchObject({
      code: 'database-unavailable',
      message: expect.stringContaining('relation "clock" does not exist'),
    });
    await test.database.raw('ALTER TABLE hidden RENAME TO clock');
    expect(await ready()).toBe('ready');
  });

  it('is not from the first change that a full disk refuses until changes pass, whatever is read meanwhile', async () => {
    const told: string[] = [];
    const database = openDatabase({
      url: test.url,
      poolSize: 2,
      applicationName: 'svc test',
      onAway: (_error, what) => told.push(what),
      onBack: (ms) => told.push(ms >= 3_000 ? 'back' : `back after ${ms} ms`),
    });
    const disk = await injectErrors(test.database, 'clock');
    try {
      await assertReady(database);
      await disk.raise('53100');
      for (let i = 0; i < 5; i++) {
        await expect(database.raw('UPDATE clock SET shift = shift')).rejects.toMatchObject({
          code: 'database-unavailable',
        });
        await database.raw('SELECT 1');
        await expect(assertReady(database)).rejects.toMatchObject({
          code: 'database-unavailable',
          message: 'The database takes no changes: injected 53100.',
        });
      }
      expect(told).toEqual(['refusing']);
      await disk.raise(null);
      await expect.poll(() => told, { timeout: 10_000 }).toEqual(['refusing', 'back']);
      await assertReady(database);
    } finally {
      await disk.raise(null);
      await database.close();
    }
  });
});
