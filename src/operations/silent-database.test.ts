import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startForwarder, type Forwarder } from '../../test/forwarder.ts';
import { openDatabase, type Database } from '../kit/db/database.ts';
import { sleep } from '../kit/retry.ts';
import { createAcceptor } from './accept.ts';
import { intake } from './harness.fixture.ts';

describe('operations/silent-database', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    database = openDatabase({ url: wire.url, poolSize: 4, applicationName: 'test' });
  });
  afterAll(async () => {
    wire.heal();
    await database.close();
    await wire.close();
    await test.drop();
  });

  it('an acceptance that is not answered is looked for once more, and no longer', async () => {
    const acceptor = createAcceptor(database);
    expect(await acceptor.accept(intake(), null)).toBeDefined();
    wire.cut('hang');
    const startedAt = performance.now();
    const first = acceptor.accept(intake(), null);
    await sleep(1_000);
    // It waits for the group before it, and no longer.
    const second = acceptor.accept(intake(), null);
    const fates = await Promise.allSettled([first, second]);
    // The first was on its way; the second was not sent.
    for (const [at, code] of ['outcome-unknown', 'database-unavailable'].entries())
      expect(fates[at]).toMatchObject({ status: 'rejected', reason: { code } });
    // Ten seconds for the statement, and five for the connection over which it is looked for.
    expect(performance.now() - startedAt).toBeLessThan(17_000);
    wire.heal();
    expect(await acceptor.accept(intake(), null)).toBeDefined();
  }, 60_000);
});
