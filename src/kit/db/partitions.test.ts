import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { keepPartitions, type PartitionedTable } from './partitions.ts';

const tables: PartitionedTable[] = [
  { table: 'by_month', key: 'id', by: 'month', ahead: 3 },
  { table: 'by_day', key: 'id', by: 'day', ahead: 2, hasDefault: true, fillfactor: 90 },
];
const today = new Date();
const day = (ahead: number): string =>
  new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + ahead))
    .toISOString()
    .slice(0, 10)
    .replaceAll('-', '');
const idOf = (ahead: number): string => {
  const hex = (Date.now() + ahead * 86_400_000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

describe('src/kit/db/partitions', () => {
  let test: TestDatabase;
  beforeEach(async () => {
    test = await createTestDatabase();
    await test.database.raw(`CREATE TABLE by_month (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE by_day (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE by_day_default PARTITION OF by_day DEFAULT`);
  });
  afterEach(() => test.drop());

  const partitions = async (parent: string): Promise<string[]> => {
    const rows = await test.database.raw(
      `SELECT relid::regclass::text AS name FROM pg_partition_tree('${parent}') WHERE isleaf ORDER BY 1`,
    );
    return rows.map(({ name }) => String(name));
  };

  it('are there for the present and the time ahead, however many nodes ask', async () => {
    await Promise.all([1, 2, 3].map(() => keepPartitions(test.database, tables)));
    expect(await partitions('by_month')).toHaveLength(4);
    expect(await partitions('by_day')).toEqual([
      ...[0, 1, 2].map((ahead) => `by_day_${day(ahead)}`),
      'by_day_default',
    ]);
  });

  it('take the rows of their time out of the default one', async () => {
    await test.database.raw('INSERT INTO by_day VALUES ($1), ($2)', [idOf(1), idOf(9)]);
    await keepPartitions(test.database, tables);
    const rows = await test.database.raw('SELECT tableoid::regclass::text AS at FROM by_day ORDER BY id');
    expect(rows.map(({ at }) => at)).toEqual([`by_day_${day(1)}`, 'by_day_default']);
  });

  it('a default one that is too large stays, and the message says how to empty it', async () => {
    await test.database.raw('INSERT INTO by_day VALUES ($1)', [idOf(1)]);
    const statement = `SELECT svc_retire_default('by_day', 'day', 'id', '90', NULL)`;
    const attempt = test.database.raw(`SELECT svc_retire_default('by_day', 'day', 'id', 90, 0)`);
    await expect(attempt).rejects.toThrow(`run ${statement} at a quiet hour`);
    await test.database.raw(statement);
    expect(await partitions('by_day')).toEqual([`by_day_${day(1)}`]);
  });

  it('are made while somebody reads, though none can be dropped then', async () => {
    const old = `by_day_${day(-3)}`;
    await test.database.raw(`SELECT svc_make_partition('by_day', 'day', current_date - 3, NULL, NULL)`);
    await test.database.transaction(async (tx) => {
      await tx.rows({ name: 'test_read', text: 'LOCK TABLE ONLY by_day IN ACCESS SHARE MODE' });
      await expect(keepPartitions(test.database, tables, 1)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await partitions('by_day')).toEqual([
      old,
      ...[0, 1, 2].map((ahead) => `by_day_${day(ahead)}`),
      'by_day_default',
    ]);
    await keepPartitions(test.database, tables, 1);
    expect(await partitions('by_day')).not.toContain(old);
  });

  it.each([
    [3, true],
    [2, false],
  ])('are kept for %i days: of three days ago it is there: %s', async (keepDays, isThere) => {
    const old = `by_day_${day(-3)}`;
    await test.database.raw(`SELECT svc_make_partition('by_day', 'day', current_date - 3, NULL, NULL)`);
    await test.database.raw('INSERT INTO by_day VALUES ($1), ($2)', [idOf(-5), idOf(-2)]);
    await keepPartitions(test.database, tables, keepDays);
    expect((await partitions('by_day')).includes(old)).toBe(isThere);
    expect(await test.database.raw('SELECT count(*)::int AS left FROM by_day')).toEqual([{ left: 1 }]);
  });
});
