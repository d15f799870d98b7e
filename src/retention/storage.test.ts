import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { messagePartitions } from '../deliveries/index.ts';
import { auditPartitions, eventPartitions } from '../events/index.ts';
import { newId } from '../kit/ids.ts';
import { createRetention } from './index.ts';

const histories = [
  { kind: 'events', tables: eventPartitions, keepDays: 30 },
  { kind: 'messages', tables: messagePartitions, keepDays: 7 },
] as const;

describe('retention/storage', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const makeEvents = (projectId: string, count: number): Promise<unknown> => {
    const first = newId().slice(0, 24);
    return test.database.raw(
      `INSERT INTO event (project_id, id, type, data)
      SELECT $1, ($2 || lpad(to_hex(n), 12, '0'))::uuid, 'connection.created', json_build_object('text', repeat('x', 1000))
      FROM generate_series(1, $3::int) n`,
      [projectId, first, count],
    );
  };

  it('counts what a project has and no other, and says how large it is', async () => {
    const [mine, other] = [newId(), newId()];
    await makeEvents(mine, 20);
    await makeEvents(other, 300);
    const { kinds } = await createRetention(test.database, histories).storageOf(mine, {});
    expect(kinds).toEqual([
      { kind: 'events', keepDays: 30, rows: 20, bytes: expect.any(Number) as number, isEstimate: false },
      { kind: 'messages', keepDays: 7, rows: 0, bytes: 0, isEstimate: false },
    ]);
    expect(kinds[0]!.bytes).toBeGreaterThan(20 * 1_000);
    expect(kinds[0]!.bytes).toBeLessThan(20 * 1_500);
  });

  it('says how long the project wants things kept, beside what the operator says', async () => {
    const retention = createRetention(test.database, [
      ...histories,
      { kind: 'auditLog', tables: auditPartitions, keepDays: 400 },
    ]);
    const { kinds } = await retention.storageOf(newId(), { messages: 0 });
    expect(kinds.map(({ kind, keepDays, projectKeepDays }) => [kind, keepDays, projectKeepDays])).toEqual([
      ['events', 30, undefined],
      ['messages', 7, 0],
      ['auditLog', 400, undefined],
    ]);
  });

  it('estimates many by the statistics of the database', async () => {
    const [mine, other] = [newId(), newId()];
    await makeEvents(mine, 90_000);
    await makeEvents(other, 30_000);
    await test.database.raw('ANALYZE event');
    const [events] = (await createRetention(test.database, histories).storageOf(mine, {})).kinds;
    expect(events).toMatchObject({ kind: 'events', isEstimate: true });
    expect(events!.rows).toBeGreaterThan(80_000);
    expect(events!.rows).toBeLessThan(100_000);
  });

  it('tells what all projects have, with the sizes of the tables', async () => {
    await test.database.raw('ANALYZE event');
    const held = await createRetention(test.database, histories).held();
    expect(held).toMatchObject([{ kind: 'events' }, { kind: 'messages', rows: 0 }]);
    expect(held![0]!.rows).toBeGreaterThan(100_000);
    expect(held![0]!.bytes).toBeGreaterThan(100_000_000);
  });
});
