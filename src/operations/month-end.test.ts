import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { keepPartitions } from '../kit/db/partitions.ts';
import { createAcceptor } from './accept.ts';
import { groundOf, intake, until } from './harness.fixture.ts';
import { createHousekeeping, historyPartitions } from './housekeeping.ts';

const history = ['operation', 'record', 'operation_log'];

/** The days on which next month is not made yet, with somebody who reads history for hours. */
describe('operations/month-end', () => {
  let test: TestDatabase;
  let reader: Client;

  beforeEach(async () => {
    test = await createTestDatabase();
    await forgetMonthsAhead();
    reader = new Client({ connectionString: test.url });
    reader.on('error', () => undefined);
    await reader.connect();
  });
  afterEach(async () => {
    await reader.end();
    await test.drop();
  });

  /** Only this month is made. */
  const forgetMonthsAhead = async (): Promise<void> => {
    for (const table of history)
      for (const name of (await partitions(table)).slice(1)) await test.database.raw(`DROP TABLE ${name}`);
  };
  const ensurePartitions = (): Promise<void> => keepPartitions(test.database, historyPartitions);
  /** As a release left it that had default partitions. */
  const addDefaults = async (): Promise<void> => {
    for (const table of history)
      await test.database.raw(`CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT`);
  };
  const backup = async (): Promise<void> => {
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    for (const table of history) await reader.query(`LOCK TABLE ${table} IN ACCESS SHARE MODE`);
    for (const table of history) await reader.query(`SELECT count(*) FROM ${table}`);
  };
  const partitions = async (parent: string): Promise<string[]> => {
    const rows = await test.database.raw(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${parent}'::regclass ORDER BY 1`,
    );
    return rows.map((row) => row['name'] as string);
  };
  /** The longest of the acceptances that were made, one after the other, while the work was done. */
  const slowestAccept = async (work: () => Promise<unknown>): Promise<number> => {
    const acceptor = createAcceptor(test.database);
    const over = new AbortController();
    let slowest = 0;
    const accepting = (async () => {
      while (!over.signal.aborted) {
        const since = performance.now();
        expect(await acceptor.accept(intake(), null)).toBeDefined();
        slowest = Math.max(slowest, performance.now() - since);
      }
    })();
    await work().finally(() => over.abort());
    await accepting;
    return slowest;
  };

  it('makes the coming months while a backup reads, and acceptances do not wait', async () => {
    await backup();
    expect(await slowestAccept(ensurePartitions)).toBeLessThan(1_500);
    for (const table of history) expect(await partitions(table)).toHaveLength(4);
    expect((await partitions('operation')).some((name) => name.endsWith('_default'))).toBe(false);
  });

  it('does not hold up acceptances for a default partition while a backup reads, and removes it after it', async () => {
    await addDefaults();
    await backup();
    const slowest = await slowestAccept(() => ensurePartitions().catch(() => undefined));
    expect(slowest).toBeLessThan(1_500);
    await reader.query('COMMIT');
    await ensurePartitions();
    for (const table of history) {
      const made = await partitions(table);
      expect(made).toHaveLength(4);
      expect(made).not.toContain(`${table}_default`);
    }
  });

  it('puts rows of a default partition where they belong, once nobody reads', async () => {
    await addDefaults();
    const ahead = new Date();
    ahead.setUTCMonth(ahead.getUTCMonth() + 2, 15);
    const hex = ahead.getTime().toString(16).padStart(12, '0');
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
    const project = '0190a000-0000-7000-8000-000000000001';
    await test.database.raw(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
       VALUES ($1, $2, $1, $1, $1, 'write', '{}', 'contacts', 'success', 1)`,
      [project, id],
    );
    await test.database.raw(
      `INSERT INTO record (project_id, operation_id, slot, payload) VALUES ($1, $2, 0, '{}')`,
      [project, id],
    );
    await backup();
    await ensurePartitions().catch(() => undefined);
    expect(await partitions('record')).toContain('record_default');
    await reader.query('COMMIT');
    // Its first round does it: the next one comes in an hour.
    const housekeeping = createHousekeeping(test.database, groundOf(test.database).log, {});
    housekeeping.start();
    await until('the default partitions are gone', async () =>
      (await partitions('record')).every((name) => name !== 'record_default'),
    );
    await housekeeping.stop();
    const month = ahead.toISOString().slice(0, 7).replace('-', '');
    const [row] = await test.database.raw(
      'SELECT o.tableoid::regclass::text AS o, r.tableoid::regclass::text AS r FROM operation o JOIN record r ON r.operation_id = o.id WHERE o.id = $1',
      [id],
    );
    expect(row).toEqual({ o: `operation_${month}`, r: `record_${month}` });
  });
});
