import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from '../installations/harness.fixture.ts';
import { createHttpServer, type HttpServer } from '../kit/http/server.ts';
import { authenticationHook } from '../projects/index.ts';
import { intake, writeOne } from './harness.fixture.ts';
import { createOperations, operationRoutes, type Operations } from './index.ts';

interface Body {
  id: string;
  code: string;
  status: string;
  issues: { name: string }[];
  results: { id: string }[];
  pagination: { done: boolean; nextPageToken?: string };
}

describe('operations/routes', () => {
  let on: Harness;
  let operations: Operations;
  let server: HttpServer;
  let installation: { id: string; integrationId: string };
  const keys: Record<string, string> = {};
  const ids: string[] = [];

  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 1 }));
    operations = createOperations(on.ground);
    server = createHttpServer({ log: on.ground.log, bodyLimitBytes: 1e6, trustedProxies: [] });
    await server.register(async (scope) => {
      scope.addHook('onRequest', authenticationHook(on.projects));
      await scope.register(operationRoutes(operations, on), { prefix: '/v1' });
    });
    keys['read'] = await on.key({ scopes: ['read'] });
    keys['writing'] = await on.key({ scopes: ['write'] });
    keys['frontend'] = await on.key({ scopes: ['frontend'] });
    keys['mine'] = await on.key({ scopes: ['read'], groupRef: 'mine' });
    keys['theirs'] = await on.key({ scopes: ['read'], groupRef: 'theirs' });
    await on.connect('mine');
    const content = { provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts' } } } };
    const made = await on.call('POST', '/integrations/other/installations', {
      groupRef: 'mine',
      config: { content },
    });
    installation = made.json;
    const given = {
      projectId: on.projectId,
      installationId: installation.id,
      integrationId: installation.integrationId,
    };
    for (let n = 0; n < 3; n++) ids.push((await operations.acceptQueued(intake(given))).operationId);
    ids.push(await writeOne(operations, on.ground.database, intake(given)));
  });
  afterAll(async () => {
    await server?.close();
    await operations?.close();
    await on?.close();
  });

  async function get(path: string, key = 'read'): Promise<{ status: number; json: Body }> {
    const url = `/v1/projects/default${path}`;
    const answer = await server.inject({ method: 'GET', url, headers: { 'x-api-key': keys[key] ?? '' } });
    return { status: answer.statusCode, json: JSON.parse(answer.body) as Body };
  }
  const listPath = (query = ''): string =>
    `/integrations/other/installations/${installation.id}/operations${query}`;

  it('§4.3 an operation is answered with the fields of §2.7', async () => {
    const { status, json } = await get(`/operations/${ids[3]}`);
    expect(status).toBe(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/) as string;
    expect(json).toEqual({
      id: ids[3],
      projectId: on.projectId,
      integrationId: installation.integrationId,
      installationId: installation.id,
      configId: expect.any(String) as string,
      actionType: 'write',
      status: 'success',
      result: '[contacts] 1 record created.',
      resource: 'contacts',
      metadata: {
        objects: ['contacts'],
        retry: { attempts: 1, lastAttempt: time },
        successfulRecordIds: ['7'],
      },
      errors: [],
      counts: { total: 1, succeeded: 1, failed: 0, unknown: 0 },
      createTime: time,
      updateTime: time,
    });
    expect((await get(`/operations/${ids[0]}`)).json.status).toBe('in_progress');
  });

  it('logs and per-record outcomes are answered', async () => {
    expect(await get(`/operations/${ids[3]}/logs`)).toMatchObject({
      status: 200,
      json: [
        {
          severity: 'info',
          message: { operation_id: ids[3], details: { object: 'contacts', attempt: '1' } },
        },
      ],
    });
    expect((await get(`/operations/${ids[3]}/records`)).json).toEqual({
      results: [{ index: 0, recordId: '7', success: true, errors: [], resolution: 'applied' }],
      pagination: { done: true },
    });
    expect((await get(`/operations/${ids[0]}/records`)).json.results).toEqual([
      { index: 0, errors: [], resolution: 'pending' },
    ]);
  });

  it('a long log is answered whole', async () => {
    const many = 2_500;
    await on.ground.database.raw(
      `INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
      SELECT project_id, operation_id, (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'info', jsonb_build_object(
        'operation_id', operation_id, 'msg', 'line ' || n, 'details', '{}'::jsonb), created_at
      FROM operation_log CROSS JOIN generate_series(1, ${many}) n WHERE operation_id = '${ids[3]}'`,
    );
    const { json } = await get(`/operations/${ids[3]}/logs`);
    const lines = (json as unknown as { message: { msg: string } }[])
      .map(({ message }) => message.msg)
      .filter((msg) => msg.startsWith('line '));
    expect(lines).toEqual(Array.from({ length: many }, (_, n) => `line ${n + 1}`));
  });

  it('a record is answered with what was asked to be written, to who may see exchanges', async () => {
    const path = `/operations/${ids[3]}/records`;
    expect(await get(`${path}/0`)).toEqual({
      status: 200,
      json: {
        index: 0,
        recordId: '7',
        success: true,
        errors: [],
        resolution: 'applied',
        content: { fields: { email: 'ada@example.com' } },
      },
    });
    expect((await get(`${path}/0`, 'mine')).status).toBe(200);
    expect((await get(`${path}/0`, 'theirs')).status).toBe(404);
    expect((await get(path, 'writing')).status).toBe(200);
    expect((await get(`${path}/0`, 'writing')).status).toBe(403);
    expect((await get(`${path}/1`)).json).toMatchObject({ code: 'not-found' });
    for (const index of ['-1', 'x', '2147483648']) expect((await get(`${path}/${index}`)).status).toBe(400);
  });

  it('operations of an installation are paged, newest first', async () => {
    const first = await get(listPath('?pageSize=3'));
    expect(first.json.results.map(({ id }) => id)).toEqual([ids[3], ids[2], ids[1]]);
    expect(first.json.pagination.done).toBe(false);
    const second = await get(listPath(`?pageSize=3&pageToken=${first.json.pagination.nextPageToken}`));
    expect(second.json.results.map(({ id }) => id)).toEqual([ids[0]]);
    expect(second.json.pagination).toEqual({ done: true });
    for (const query of ['?pageSize=0', '?pageSize=1001', '?pageToken=x', '?pagesize=1']) {
      expect((await get(listPath(query))).status).toBe(400);
    }
    expect((await get(`/integrations/crm/installations/${installation.id}/operations`)).status).toBe(404);
  });

  it('a caller confined to a group finds its own operations only', async () => {
    for (const path of [
      `/operations/${ids[3]}`,
      `/operations/${ids[3]}/logs`,
      `/operations/${ids[3]}/records`,
      listPath(),
    ]) {
      expect((await get(path, 'mine')).status).toBe(200);
      expect((await get(path, 'theirs')).status).toBe(404);
      expect((await get(path, 'frontend')).status).toBe(403);
      expect((await get(path, 'nobody')).status).toBe(401);
    }
  });

  it('the installation learns how its last operation ended', async () => {
    await operations.close();
    const { json } = await on.call('GET', `/integrations/other/installations/${installation.id}`);
    expect(json.lastOperationStatus).toBe('success');
  });
});
