import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { findPgbouncer, startPgbouncer, type Pooler } from './pgbouncer.ts';
import { createOperations } from '../src/operations/index.ts';
import { groundOf, intake } from '../src/operations/harness.fixture.ts';
import { openDatabase, type Database } from '../src/kit/db/database.ts';
import { createNotices } from '../src/kit/db/notices.ts';

const program = await findPgbouncer();
const skipped = program ? '' : ' (skipped: pgbouncer is not installed)';

describe.skipIf(!program)(`test/pooler${skipped}`, () => {
  let test: TestDatabase;
  let pooler: Pooler;
  let pooled: Database;
  let unprepared = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    pooler = await startPgbouncer(program ?? '', test.url);
    pooled = openDatabase({
      url: pooler.through(test.url),
      directUrl: test.url,
      poolSize: 40,
      applicationName: 'svc test',
      onUnprepared: () => (unprepared += 1),
    });
  });
  afterAll(async () => {
    await pooled?.close();
    await pooler?.stop();
    await test?.drop();
  });

  /** Of every session of the pooler. */
  async function settingsOf(db: Database): Promise<Set<string>> {
    const text = `SELECT pg_sleep(0.05), concat_ws(' ', current_setting('synchronous_commit'),
      current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')) AS settings`;
    const asked = await Promise.all(Array.from({ length: 40 }, () => db.raw(text)));
    return new Set(asked.flat().map(({ settings }) => String(settings)));
  }

  it('runs named statements on sessions that others used before', async () => {
    const statements = Array.from({ length: 60 }, (_, n) => ({
      name: `test_pooled_${n}`,
      text: `SELECT $1::int + ${n} AS sum`,
    }));
    for (let round = 0; round < 3; round += 1) {
      const sums = await Promise.all(statements.map((one) => pooled.rows<{ sum: number }>(one, [1])));
      expect(sums.map(([row]) => row?.sum)).toEqual(statements.map((_, n) => n + 1));
    }
    expect(unprepared).toBeLessThanOrEqual(1);
  });

  it('bounds transactions, and leaves nothing behind in the sessions it was lent', async () => {
    const limit = { name: 'test_limit', text: "SELECT current_setting('statement_timeout') AS timeout" };
    const within = await pooled.transaction((tx) => tx.rows<{ timeout: string }>(limit));
    expect(within).toEqual([{ timeout: '30s' }]);
    // Also without a direct way to the server.
    const notices = createNotices(pooled.url);
    const operations = createOperations(groundOf({ ...pooled, notices }));
    await Promise.all(Array.from({ length: 20 }, () => operations.acceptQueued(intake())));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await settingsOf(pooled)).toEqual(new Set(['on 0 0']));
    await operations.close();
    await notices.close();
  });

  it('refuses a first statement, too, while the pooler has no session to lend', async () => {
    const giveBack = await pooler.takeAll(test.url);
    const late = openDatabase({
      url: pooler.through(test.url),
      directUrl: test.url,
      poolSize: 2,
      applicationName: 'svc test',
    });
    const one = { name: 'test_late', text: 'SELECT 1 AS one' };
    try {
      await expect(late.rows(one)).rejects.toMatchObject({ code: 'database-unavailable' });
      await giveBack();
      expect(await late.rows(one)).toEqual([{ one: 1 }]);
    } finally {
      await late.close();
    }
  }, 30_000);

  it('says what is missing when DATABASE_URL leads to a pooler and nothing leads to the server', async () => {
    const lost = openDatabase({ url: pooler.through(test.url), poolSize: 2, applicationName: 'svc test' });
    await expect(lost.rows({ name: 'test_lost', text: 'SELECT 1' })).rejects.toThrow(
      'leads to a pooler that keeps no sessions: let SVC_DATABASE_DIRECT_URL lead',
    );
    await lost.close();
  });
});
