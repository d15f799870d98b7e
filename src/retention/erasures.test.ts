import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { eraseProxyLog, proxyLogPartitions } from '../actions/proxy/index.ts';
import { eraseCustomers } from '../connections/index.ts';
import { eraseMessages, messagePartitions } from '../deliveries/index.ts';
import { eraseEvents, eventPartitions } from '../events/index.ts';
import { statement } from '../kit/db/statement.ts';
import { newId, timeOf } from '../kit/ids.ts';
import { eraseOperations, historyPartitions } from '../operations/index.ts';
import { eraseSome } from './erasures.ts';
import { createRetention, type History } from './index.ts';

const histories: History[] = [
  { kind: 'operations', tables: historyPartitions, keepDays: 400, erase: eraseOperations },
  { kind: 'messages', tables: messagePartitions, keepDays: 30, erase: eraseMessages },
  { kind: 'events', tables: eventPartitions, keepDays: 30, erase: eraseEvents },
  { kind: 'proxyLogs', tables: proxyLogPartitions, keepDays: 7, erase: eraseProxyLog },
];
const nobody = '0190a000-0000-7000-8000-000000000001';
/** A new id of a node whose clock is ahead by so much; behind, where it is negative. */
function idAhead(ms: number): string {
  const id = newId();
  const time = (timeOf(id) + ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
}

const insertEvent = statement(
  'test_insert_event',
  `INSERT INTO event (project_id, id, type, group_ref, data) VALUES ($1, $2, 'connection.created', 'acme', '{}')`,
);

describe('retention/erasures', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const raw = (text: string, values: unknown[]) => test.database.raw(text, values);
  /** So many of each kind, with a record, a log line and a key for each operation. */
  async function fill(
    projectId: string,
    groupRef: string,
    count: number,
    { status = 'success', aheadMs = 0 } = {},
  ): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const id = idAhead(aheadMs);
      await raw(
        `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
        VALUES ($1, $2, $3, $3, $3, 'write', json_build_object('groupRef', $4::text), 'contacts', $5, 1)`,
        [projectId, id, nobody, groupRef, status],
      );
      await raw(
        `INSERT INTO record (project_id, operation_id, slot, payload) VALUES ($1, $2, 0, '{"id":"secret"}')`,
        [projectId, id],
      );
      await raw(
        `INSERT INTO written_record (project_id, hash, operation_id) VALUES ($1, svc_record_hash('secret'), $2)`,
        [projectId, id],
      );
      await raw(
        `INSERT INTO operation_log (project_id, operation_id, id, severity, message) VALUES ($1, $2, $2, 'info', '{}')`,
        [projectId, id],
      );
      await raw(
        `INSERT INTO idempotency (project_id, principal, key, hash, operation_id, status, response, expires_at)
        VALUES ($1, 'key:a', $2::text, '\\x', $3, 200, '{"a":"secret"}', 'infinity')`,
        [projectId, id, id],
      );
      await raw(
        `INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
        VALUES ($1, $2, $3, $4, 'people', $3, 1, 0, 1, 6, 0, 'secret', '[]')`,
        [projectId, id, nobody, groupRef],
      );
      await raw(
        `INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
        VALUES ($1, $2, $3, 'delivered', 'delivered', 1, now(), now())`,
        [projectId, id, nobody],
      );
      await raw(
        `INSERT INTO event (project_id, id, type, group_ref, data) VALUES ($1, $2, 'connection.created', $3, '{}')`,
        [projectId, id, groupRef],
      );
      await raw(
        `INSERT INTO proxy_log (project_id, id, integration_id, installation_id, connection_id, group_ref, provider, method, path, total_ms)
        VALUES ($1, $2, $3, $3, $3, $4, 'hubspot', 'GET', '/secret', 1)`,
        [projectId, id, nobody, groupRef],
      );
    }
  }
  const tables = [
    'operation',
    'record',
    'operation_log',
    'written_record',
    'message',
    'delivery',
    'event',
    'proxy_log',
  ];
  async function left(projectId: string): Promise<number[]> {
    const counts = [];
    for (const table of tables)
      counts.push((await raw(`SELECT FROM ${table} WHERE project_id = $1`, [projectId])).length);
    return counts;
  }
  const eraseAll = async (limit: number): Promise<void> => {
    while (await eraseSome(test.database, histories, limit));
  };

  it('removes sign-ins that were begun before it was asked for, however late it comes to them', async () => {
    const projectId = newId();
    const begin = (state: string) =>
      raw(
        `INSERT INTO oauth_flow (project_id, state_hash, request, code_verifier, expires_at)
        VALUES ($1, $2, '{}', '\\x', svc_now() + interval '10 minutes')`,
        [projectId, Buffer.from(`${projectId}${state}`)],
      );
    await begin('before');
    const customers: History = { kind: 'customers', tables: [], keepDays: 0, erase: eraseCustomers };
    const { erasures } = createRetention(test.database, [customers]);
    const { id } = await erasures.start(projectId, { wholeProject: true });
    await begin('since');
    await eraseSome(test.database, [customers]);
    expect(await erasures.get(projectId, id)).toMatchObject({ status: 'done', removed: { customers: 1 } });
    const kept = await raw('SELECT state_hash FROM oauth_flow WHERE project_id = $1', [projectId]);
    expect(kept).toEqual([{ state_hash: Buffer.from(`${projectId}since`) }]);
  });

  it('removes what was made until then by the clock of the database, however wrong those of the nodes are, and nothing else', async () => {
    const projectId = newId();
    const kinds = histories.filter(({ kind }) => kind !== 'proxyLogs');
    const minutes = 60_000;
    for (const aheadMs of [-5 * minutes, 5 * minutes, 20 * minutes])
      await fill(projectId, 'acme', 1, { aheadMs });
    const { erasures } = createRetention(test.database, kinds);
    const { id } = await erasures.start(projectId, { groupRef: 'acme' });
    for (const aheadMs of [-10 * minutes, 0, 10 * minutes]) await fill(projectId, 'acme', 1, { aheadMs });
    while (await eraseSome(test.database, kinds, 2));
    expect(await erasures.get(projectId, id)).toMatchObject({
      status: 'done',
      removed: { operations: 9, messages: 6, events: 3 },
    });
    expect((await left(projectId)).slice(0, -1)).toEqual([3, 3, 3, 3, 3, 3, 3]);
  });

  it('removes lines of the proxy log until then by the clock of the database, where that of the node that is asked is behind it', async () => {
    const projectId = newId();
    await raw(`UPDATE clock SET shift = '1 minute'`, []);
    try {
      for (const ago of ['1 second', '-30 seconds'])
        await raw(
          `INSERT INTO proxy_log (project_id, id, integration_id, installation_id, connection_id, group_ref, provider, method, path, total_ms)
          VALUES ($1, svc_uuid_floor(svc_now() - $2::interval), $3, $3, $3, 'acme', 'hubspot', 'GET', '/secret', 1)`,
          [projectId, ago, nobody],
        );
      const { erasures } = createRetention(test.database, histories);
      const { id } = await erasures.start(projectId, { groupRef: 'acme' });
      await eraseAll(100);
      expect(await erasures.get(projectId, id)).toMatchObject({ status: 'done', removed: { proxyLogs: 1 } });
    } finally {
      await raw(`UPDATE clock SET shift = '0'`, []);
    }
  });

  it('waits for a change that was under way when it was asked for, and removes what it stored', async () => {
    const projectId = newId();
    const { erasures } = createRetention(test.database, histories);
    let id = '';
    await test.database.transaction(async (tx) => {
      await tx.rows(insertEvent, [projectId, newId()]);
      ({ id } = await erasures.start(projectId, { groupRef: 'acme' }));
      expect(await eraseSome(test.database, histories)).toBe(false);
    });
    await eraseAll(100);
    expect(await erasures.get(projectId, id)).toMatchObject({ status: 'done', removed: { events: 1 } });
  });

  it('removes what was made of one group until then, says what, and leaves the others', async () => {
    const projectId = newId();
    const other = newId();
    await fill(projectId, 'acme', 5);
    await fill(projectId, 'globex', 2);
    await fill(other, 'acme', 1);
    const { erasures } = createRetention(test.database, histories);
    const started = await erasures.start(projectId, { groupRef: 'acme' });
    expect(started).toMatchObject({ groupRef: 'acme', status: 'running', removed: {} });
    await fill(projectId, 'acme', 1);
    await eraseAll(2);
    const removed = { operations: 15, messages: 10, events: 5, proxyLogs: 5 };
    expect(await erasures.get(projectId, started.id)).toMatchObject({
      status: 'done',
      removed,
      unfinished: 0,
    });
    expect(await left(projectId)).toEqual([3, 3, 3, 3, 3, 3, 3, 3]);
    expect(await left(other)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    const answers = await raw('SELECT response IS NULL AS gone FROM idempotency WHERE project_id = $1', [
      projectId,
    ]);
    expect(answers.filter(({ gone }) => gone)).toHaveLength(5);
    const entries = await raw('SELECT action, details FROM audit_log WHERE target_id = $1 ORDER BY id', [
      started.id,
    ]);
    expect(entries).toMatchObject([
      { action: 'erasure.started', details: { groupRef: 'acme' } },
      { action: 'erasure.done', details: { groupRef: 'acme', removed } },
    ]);
  });

  it('says at its end of a group of which nothing was found that it was so, and of no other', async () => {
    const projectId = newId();
    await fill(projectId, 'acme', 1);
    await fill(projectId, 'busy', 1, { status: 'in_progress' });
    const { erasures } = createRetention(test.database, histories);
    const asked = [{ groupRef: 'acm' }, { groupRef: 'acme' }, { groupRef: 'busy' }, { wholeProject: true }];
    const ids: string[] = [];
    for (const request of asked) {
      const started = await erasures.start(projectId, request);
      expect(started.note).toBeUndefined();
      ids.push(started.id);
    }
    await eraseAll(100);
    const [wrong, ...others] = await Promise.all(ids.map((id) => erasures.get(projectId, id)));
    expect(wrong).toMatchObject({ status: 'done', note: expect.stringContaining('groupRef') as string });
    expect(others.map(({ status, note }) => [status, note])).toEqual(others.map(() => ['done', undefined]));
  });

  it('goes on where a node that was killed had committed, and counts nothing twice', async () => {
    const projectId = newId();
    await fill(projectId, 'acme', 6);
    const { erasures } = createRetention(test.database, histories);
    const { id } = await erasures.start(projectId, { wholeProject: true });
    await eraseSome(test.database, histories, 4);
    const broken: History[] = [
      {
        ...histories[0]!,
        erase: async (tx, slice, limit) => {
          await eraseOperations(tx, slice, limit);
          throw new Error('killed');
        },
      },
      ...histories.slice(1),
    ];
    await expect(eraseSome(test.database, broken, 4)).rejects.toThrow('killed');
    await eraseAll(4);
    expect(await erasures.get(projectId, id)).toMatchObject({
      status: 'done',
      removed: { operations: 18, messages: 12, events: 6, proxyLogs: 6 },
    });
    expect(await left(projectId)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('leaves operations that are under way, and says how many', async () => {
    const projectId = newId();
    await fill(projectId, 'acme', 1);
    await fill(projectId, 'acme', 2, { status: 'in_progress' });
    const { erasures } = createRetention(test.database, histories);
    const { id } = await erasures.start(projectId, { groupRef: 'acme' });
    await eraseAll(100);
    expect(await erasures.get(projectId, id)).toMatchObject({ removed: { operations: 3 }, unfinished: 2 });
    expect((await left(projectId)).slice(0, 4)).toEqual([2, 2, 2, 2]);
  });

  it('refuses a request that does not say whose', async () => {
    const { erasures } = createRetention(test.database, histories);
    for (const request of [{}, { groupRef: 'acme', wholeProject: true }])
      await expect(erasures.start(nobody, request)).rejects.toMatchObject({
        details: { issues: [{ name: 'groupRef' }] },
      });
    await expect(erasures.get(nobody, newId())).rejects.toMatchObject({ code: 'not-found' });
  });
});
