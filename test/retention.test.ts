import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proxyLogPartitions } from '../src/actions/proxy/index.ts';
import { messagePartitions } from '../src/deliveries/index.ts';
import { auditPartitions, eventPartitions } from '../src/events/index.ts';
import { firstIdAt, newId } from '../src/kit/ids.ts';
import { keepPartitions, type PartitionedTable } from '../src/kit/db/partitions.ts';
import { idMadeAt } from '../src/operations/harness.fixture.ts';
import { historyPartitions, keepHistory } from '../src/operations/index.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

const tables = [
  ...auditPartitions,
  ...eventPartitions,
  ...historyPartitions,
  ...messagePartitions,
  ...proxyLogPartitions,
];
const agedDays = 31;

describe('test/retention', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await keepPartitions(test.database, tables);
  });
  afterAll(() => test.drop());

  const namesOf = async (): Promise<string[]> =>
    (
      await test.database.raw(
        `SELECT relid::regclass::text AS name FROM unnest($1::text[]) parent CROSS JOIN pg_partition_tree(parent::regclass) WHERE isleaf`,
        [tables.map(({ table }) => table)],
      )
    ).map(({ name }) => String(name));
  const shift = (days: number): Promise<unknown> =>
    test.database.raw(`UPDATE clock SET shift = make_interval(days => $1)`, [days]);
  /** When the last moment of a partition is; undefined for a default one. */
  const endOf = (name: string, { by }: PartitionedTable): Date | undefined => {
    const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)?$/.exec(name) ?? [];
    if (year === undefined) return undefined;
    return new Date(by === 'day' ? Date.UTC(+year, +month! - 1, +day! + 1) : Date.UTC(+year, +month!, 1));
  };
  const tableOf = (name: string): PartitionedTable =>
    tables.find(({ table }) => name.replace(/_(\d{6,8}|default)$/, '') === table)!;

  it('drops the partitions that are older than their days, and nothing else', async () => {
    const keepDays: Record<string, number> = {
      event: 30,
      message: 30,
      delivery: 30,
      proxy_log: 7,
      audit_log: 400,
      operation: 31,
      record: 31,
      operation_log: 31,
      operation_mark: 31,
      written_record: 31,
    };
    for (const { table, by } of tables)
      for (let ago = 1; ago <= 40; ago += by === 'day' ? 1 : 20)
        await test.database.raw(
          `SELECT svc_make_partition($1, $2, date_trunc($2, (now() - make_interval(days => $3)) AT TIME ZONE 'UTC'), NULL, NULL)`,
          [table, by, ago],
        );
    const before = await namesOf();
    await shift(agedDays);
    for (const table of tables) {
      if (historyPartitions.includes(table)) continue;
      await keepPartitions(test.database, [table], keepDays[table.table]);
    }
    await keepHistory(test.database, 31);
    const now = new Date(Date.now() + agedDays * 86_400_000);
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
    const expected = before.filter((name) => {
      const table = tableOf(name);
      const end = endOf(name, table);
      return !end || end.getTime() > midnight - keepDays[table.table]! * 86_400_000;
    });
    const after = await namesOf();
    expect(after.toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeLessThan(before.length - 60);
    await shift(0);
    await keepPartitions(test.database, tables);
  });

  it.each([1, 7])('what is of the last minute of a day stays for all of its %i days', async (days) => {
    const day = 86_400_000;
    const midnight = Math.ceil(Date.now() / day) * day;
    const id = idMadeAt(midnight - 60_000);
    await test.database.raw(
      `INSERT INTO message (project_id, id, destination_id, page, slice, records, bytes, encoding, body, keys)
      VALUES ($1, $1, $1, 1, 0, 1, 1, 0, 'x', '[]')`,
      [id],
    );
    const isThereAfter = async (ms: number): Promise<boolean> => {
      await test.database.raw(`UPDATE clock SET shift = $1::timestamptz - now()`, [
        new Date(midnight + ms).toISOString(),
      ]);
      await keepPartitions(test.database, messagePartitions, days);
      return (await test.database.raw('SELECT FROM message WHERE id = $1', [id])).length > 0;
    };
    expect(await isThereAfter(days * day - 120_000)).toBe(true);
    expect(await isThereAfter(days * day + 60_000)).toBe(false);
    await shift(0);
    await keepPartitions(test.database, tables);
  });

  it('a day goes early when every project with something of it wants it gone, and not before', async () => {
    await shift(0);
    const [brief, briefer, whole] = [newId(), newId(), newId()];
    for (const [id, days] of [
      [brief, { messages: 3 }],
      [briefer, { messages: 1 }],
      [whole, {}],
    ] as const)
      await test.database.raw(`INSERT INTO project (id, name, app_name, keep_days) VALUES ($1, $2, '', $3)`, [
        id,
        `p-${id}`,
        days,
      ]);
    const put = async (projectId: string, ago: number): Promise<void> => {
      const id =
        firstIdAt(new Date(Date.now() - ago * 86_400_000).toISOString()).slice(0, 14) + newId().slice(14);
      await test.database.raw(
        `INSERT INTO message (project_id, id, destination_id, page, slice, records, bytes, encoding, body, keys)
        VALUES ($1, $2, $1, 1, 0, 1, 1, 0, 'x', '[]')`,
        [projectId, id],
      );
    };
    const table = messagePartitions.find((one) => one.table === 'message')!;
    for (let ago = 1; ago <= 8; ago += 1)
      await test.database.raw(
        `SELECT svc_make_partition('message', 'day', date_trunc('day', (now() - make_interval(days => $1)) AT TIME ZONE 'UTC'), NULL, 100)`,
        [ago],
      );
    // [days ago, the projects that have a message of that day].
    for (const [ago, projects] of [
      [8, [brief, whole]],
      [6, [brief, briefer]],
      [2, [brief, briefer]],
      [3, [briefer]],
    ] as const)
      for (const projectId of projects) await put(projectId, ago);
    const dayOf = (ago: number): string =>
      `message_${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;
    await keepPartitions(test.database, [table], 30);
    const names = await namesOf();
    // Days without a message are dropped, too, but not yesterday, which has been over for less than a day.
    expect([8, 7, 6, 5, 4, 3, 2, 1].filter((ago) => names.includes(dayOf(ago)))).toEqual([8, 2, 1]);
    expect(names).toContain(dayOf(0));
    // What is of no day that was made has its place, and days to come can be made.
    expect(names).toContain('message_default');
    await keepPartitions(test.database, [{ ...table, ahead: 9 }], 30);
    await test.database.raw('DELETE FROM project WHERE id = ANY ($1::uuid[])', [[brief, briefer, whole]]);
  });

  it.each([
    [
      'is unfinished',
      'work',
      `INSERT INTO work (project_id, ref, lane_id, kind, due_at, deadline) VALUES ($1, $2, $1, 'read', 'infinity', 'infinity')`,
    ],
    [
      'still gathers its records',
      'ab_batch',
      `INSERT INTO ab_batch (project_id, id, key, lane_id, prio, close_at, latest_at, deadline_s)
      VALUES ($1, $2, $1, $1, 1, 'infinity', 'infinity', 3600)`,
    ],
  ])('a month of operations stays while one of it, or from before, %s', async (_, table, insert) => {
    const [projectId, id] = [newId(), newId()];
    await test.database.raw(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      VALUES ($1, $2, $1, $1, $1, 'read', '{}', 'contacts', 'in_progress', 1)`,
      [projectId, id],
    );
    await test.database.raw(insert, [projectId, id]);
    const isThere = async (): Promise<boolean> =>
      (await test.database.raw('SELECT FROM operation WHERE id = $1', [id])).length > 0;
    await shift(100);
    await keepHistory(test.database, 31);
    expect(await isThere()).toBe(true);
    await test.database.raw(`DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
    await keepHistory(test.database, 31);
    expect(await isThere()).toBe(false);
    await shift(0);
    await keepPartitions(test.database, tables);
  });
});
