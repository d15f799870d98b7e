import { openDatabase, type Database } from '../src/kit/db/database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startForwarder, type Forwarder } from './forwarder.ts';

/** A database of its own, and a pool that reaches it by a wire that a test can cut. */
export interface BehindWire {
  test: TestDatabase;
  wire: Forwarder;
  database: Database;
  close(): Promise<void>;
}

export async function openBehindWire(): Promise<BehindWire> {
  const test = await createTestDatabase();
  const wire = await startForwarder(test.url);
  const database = openDatabase({ url: wire.url, poolSize: 4, applicationName: 'test' });
  return {
    test,
    wire,
    database,
    async close() {
      wire.heal();
      await database.close();
      await wire.close();
      await test.drop();
    },
  };
}
