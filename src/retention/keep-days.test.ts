import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { searchLog } from '../actions/proxy/log-store.ts';
import { wholeProject } from '../events/index.ts';
import { listEvents } from '../events/store.ts';
import { firstIdAt, newId } from '../kit/ids.ts';
import { rowOf } from '../operations/exchanges/exchange.ts';
import { insertExchanges, listExchanges } from '../operations/exchanges/store.ts';
import { listOperations } from '../operations/list.ts';
import { createReader } from '../operations/read.ts';

const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const first = '00000000-0000-0000-0000-000000000000';

/** What is past the days that its project asks for is not shown, though its partition is still there. */
describe('retention/keep-days', () => {
  let test: TestDatabase;
  const projectId = newId();
  const installationId = newId();
  const reach = wholeProject(projectId);
  beforeAll(async () => {
    test = await createTestDatabase();
    await raw(`INSERT INTO project (id, name, app_name) VALUES ($1, 'brief', '')`, [projectId]);
  });
  afterAll(() => test.drop());

  const raw = (text: string, values: unknown[]) => test.database.raw(text, values);
  const keep = (days: object) => raw('UPDATE project SET keep_days = $2 WHERE id = $1', [projectId, days]);
  const idOf = (ago: number): string =>
    firstIdAt(new Date(Date.now() - ago * 86_400_000).toISOString()).slice(0, 14) + newId().slice(14);
  const [recent, old] = [idOf(1), idOf(3)];

  it('operations, unless they are unfinished', async () => {
    const unfinished = idOf(4);
    for (const [id, status] of [
      [recent, 'success'],
      [old, 'success'],
      [unfinished, 'in_progress'],
    ])
      await raw(
        `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
        VALUES ($1, $2, $3, $3, $3, 'write', '{}', 'contacts', $4, 1)`,
        [projectId, id, installationId, status],
      );
    const reader = createReader(test.database);
    const shown = async () =>
      (await reader.list(projectId, installationId, { pageSize: 10 })).results.map(({ id }) => id);
    expect(await shown()).toEqual([recent, old, unfinished]);
    const everywhere = async () =>
      (await listOperations(test.database, reach, {}, 10)).found.map(({ row }) => row.id);
    expect(await everywhere()).toEqual([recent, old, unfinished]);
    await keep({ operations: 2 });
    expect(await everywhere()).toEqual([recent, unfinished]);
    expect(await shown()).toEqual([recent, unfinished]);
    const all = await reader.getAll(projectId, [recent, old, unfinished]);
    expect(all.map(({ id }) => id).toSorted()).toEqual([unfinished, recent]);
    await expect(reader.get(reach, old)).rejects.toMatchObject({ code: 'not-found' });
    await expect(reader.records(reach, old, { pageSize: 1 })).rejects.toMatchObject({ code: 'not-found' });
    expect((await reader.get(reach, unfinished)).id).toBe(unfinished);
  });

  it('events', async () => {
    for (const id of [recent, old])
      await raw(
        `INSERT INTO event (project_id, id, type, data) VALUES ($1, $2, 'connection.created', '{}')`,
        [projectId, id],
      );
    const shown = async () =>
      (
        await listEvents(test.database, reach, {
          before: last,
          type: undefined,
          connectionId: undefined,
          limit: 10,
        })
      ).map(({ id }) => id);
    expect(await shown()).toEqual([recent, old]);
    await keep({ events: 2 });
    expect(await shown()).toEqual([recent]);
  });

  it('exchanges with providers, of which 0 days keep none', async () => {
    const operationId = newId();
    const exchange = (id: string) =>
      rowOf({
        projectId,
        operationId,
        id,
        groupRef: 'acme',
        attempt: 1,
        withGoodAnswers: true,
        request: { method: 'GET', path: '/' },
        result: { answer: { status: 200, headers: {}, body: '' } },
        totalMs: 1,
      });
    const shown = async () =>
      (await listExchanges(test.database, projectId, operationId, first, 10)).map(({ id }) => id);
    await insertExchanges(test.database, [exchange(old), exchange(recent)]);
    expect(await shown()).toEqual([old, recent]);
    await keep({ exchanges: 2 });
    expect(await shown()).toEqual([recent]);
    await keep({ exchanges: 0 });
    const others = { ...exchange(newId()), project_id: newId() };
    await insertExchanges(test.database, [exchange(newId()), others]);
    const kept = await raw('SELECT id FROM exchange WHERE project_id = ANY ($1) ORDER BY id', [
      [projectId, others.project_id],
    ]);
    expect(kept.map(({ id }) => id)).toEqual([old, recent, others.id]);
  });

  it('lines of the proxy log', async () => {
    for (const id of [recent, old])
      await raw(
        `INSERT INTO proxy_log (project_id, id, integration_id, installation_id, connection_id, group_ref, provider, method, path, total_ms)
        VALUES ($1, $2, $3, $3, $3, 'acme', 'hubspot', 'GET', '/', 1)`,
        [projectId, id, installationId],
      );
    const shown = async () =>
      (await searchLog(test.database, reach, { before: last, from: first, limit: 10 })).map(({ id }) => id);
    expect(await shown()).toEqual([recent, old]);
    await keep({ proxyLogs: 2 });
    expect(await shown()).toEqual([recent]);
  });
});
