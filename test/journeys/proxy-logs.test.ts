import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { proxyLogPartitions } from '../../src/actions/proxy/index.ts';
import { keepPartitions } from '../../src/kit/db/partitions.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import type { Platform } from '../platform.ts';
import { startRawPlatform } from '../raw-customer.ts';
import { rawCall, type RawAnswer, type RawCall } from '../raw-http.ts';
import { startRecorder, type Recorder } from '../recorder.ts';

interface Entry {
  requestId: string;
  time: string;
  installationId: string;
  groupRef: string;
  method: string;
  path: string;
  status?: number;
  problem?: string;
  providerMs?: number;
  totalMs: number;
}
interface Page {
  results: Entry[];
  pagination: { done: boolean; nextPageToken?: string };
}

describe('test/journeys/proxy-logs', () => {
  let test: TestDatabase;
  let recorder: Recorder;
  let platform: Platform;
  let ours: Record<string, string>;
  let installationId: string;

  beforeAll(async () => {
    [test, recorder] = await Promise.all([createTestDatabase(), startRecorder()]);
    ({ platform, ours, installationId } = await startRawPlatform(test.url, recorder.url));
  });
  beforeEach(() => recorder.reset());
  afterAll(async () => {
    await platform?.stop();
    await recorder?.close();
    await test?.drop();
  });

  const call = ({ headers, ...rest }: RawCall): Promise<RawAnswer> =>
    rawCall(platform.proxy, { ...rest, headers: { ...ours, ...headers } });
  const logs = async (query = '', key?: string): Promise<Page> => {
    const answer = await platform.call<Page>(
      'GET',
      `/projects/default/proxy-logs${query}`,
      undefined,
      key ? { key } : {},
    );
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const makeKey = async (body: Record<string, unknown>): Promise<string> =>
    (await platform.call<{ key: string }>('POST', '/projects/default/api-keys', { label: 'k', ...body })).body
      .key;

  it('a call leaves a line within a second: who, what, how long; no values, no body', async () => {
    recorder.answer((_request, response) => {
      setTimeout(() => response.writeHead(201).end('secret-answer'), 60);
    });
    const answer = await call({
      method: 'PATCH',
      target: '/v1/users/7?token=secret-token&page=2&flag',
      headers: { 'content-type': 'text/plain', 'x-secret': 'secret-header' },
      body: 'secret-body',
    });
    const requestId = answer.headers['x-svc-request-id'];
    let found: Entry | undefined;
    await expect
      .poll(async () => (found = (await logs()).results.find((entry) => entry.requestId === requestId)), {
        timeout: 1_500,
      })
      .toBeDefined();
    expect(found).toMatchObject({
      installationId,
      groupRef: 'acme',
      method: 'PATCH',
      path: '/v1/users/7?token=&page=',
      status: 201,
    });
    expect(found!.problem).toBeUndefined();
    expect(found!.providerMs).toBeGreaterThanOrEqual(55);
    expect(found!.totalMs).toBeGreaterThanOrEqual(found!.providerMs!);
    expect(Math.abs(Date.parse(found!.time) - Date.now())).toBeLessThan(10_000);
    const rows = await test.database.raw('SELECT p::text AS line FROM proxy_log p');
    expect(rows.map(({ line }) => line).join()).not.toContain('secret');
  });

  it('lines are found by installation, group, method, path, status and time, in pages', async () => {
    for (const status of [200, 404, 429]) {
      recorder.answer((_request, response) => response.writeHead(status).end());
      for (const method of ['GET', 'DELETE']) await call({ method, target: `/find/${status}` });
    }
    await expect.poll(async () => (await logs('?path=/find/')).results.length).toBe(6);
    const counts = async (query: string): Promise<number> =>
      (await logs(`?path=/find/&${query}`)).results.length;
    expect(await counts('status=404')).toBe(2);
    expect(await counts('status=4xx')).toBe(4);
    expect(await counts('method=delete')).toBe(3);
    expect(await counts(`installationId=${installationId}&groupRef=acme`)).toBe(6);
    expect(await counts('groupRef=nobody')).toBe(0);
    expect(await counts('installationId=nonsense')).toBe(0);
    expect(await counts(`since=${new Date(Date.now() + 60_000).toISOString()}`)).toBe(0);
    expect(await counts(`until=${new Date(Date.now() - 60_000).toISOString()}`)).toBe(0);
    const all = (await logs('?path=/find/')).results.map(({ requestId }) => requestId);
    expect(all).toEqual(all.toSorted().toReversed());
    const paged: string[] = [];
    let token = '';
    do {
      const page = await logs(`?path=/find/&pageSize=4${token && `&pageToken=${token}`}`);
      paged.push(...page.results.map(({ requestId }) => requestId));
      token = page.pagination.nextPageToken ?? '';
    } while (token !== '');
    expect(paged).toEqual(all);
    for (const bad of ['status=abc', 'pageToken=x', 'pageSize=0', 'since=yesterday'])
      expect((await platform.call('GET', `/projects/default/proxy-logs?${bad}`)).status).toBe(400);
  });

  it('what we answered ourselves says so; what names no project leaves no line', async () => {
    recorder.answer((_request, response) => response.socket?.destroy());
    await call({ target: '/broken' });
    await call({ target: '/stranger', headers: { 'x-api-key': 'made-up' } });
    await expect
      .poll(async () => (await logs('?path=/broken')).results)
      .toMatchObject([{ status: 502, problem: 'provider-unreachable' }]);
    expect((await logs('?path=/stranger')).results).toEqual([]);
  });

  it('scope read may look, others may not, and a key of another group sees nothing', async () => {
    await call({ target: '/scoped' });
    await expect.poll(async () => (await logs('?path=/scoped')).results.length).toBe(1);
    const reader = await makeKey({ scopes: ['read'] });
    const foreign = await makeKey({ scopes: ['read'], groupRef: 'other' });
    const proxyOnly = await makeKey({ scopes: ['proxy'] });
    expect((await logs('?path=/scoped', reader)).results).toHaveLength(1);
    expect((await logs('?path=/scoped', foreign)).results).toEqual([]);
    expect((await logs('?path=/scoped&groupRef=acme', foreign)).results).toEqual([]);
    const refused = await platform.call('GET', '/projects/default/proxy-logs', undefined, { key: proxyOnly });
    expect(refused.status).toBe(403);
  });

  it('nothing is written before the provider is called, and a kill loses at most the last second', async () => {
    const count = async (): Promise<number> =>
      Number(
        (await test.database.raw("SELECT count(*) AS n FROM proxy_log WHERE path LIKE '/kill%'"))[0]?.['n'],
      );
    let before = -1;
    const answer = async (response: ServerResponse): Promise<void> => {
      before = await count();
      response.writeHead(200).end();
    };
    recorder.answer((_request, response) => void answer(response));
    await call({ target: '/kill/1' });
    expect(before).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await platform.restart('SIGKILL');
    expect(await count()).toBe(1);
    await call({ target: '/kill/2' });
    await platform.restart('SIGTERM');
    expect(await count()).toBe(2);
  });

  it('days that are over are dropped, and the coming ones are there', async () => {
    await test.database.raw(
      `CREATE TABLE proxy_log_20200101 PARTITION OF proxy_log FOR VALUES FROM ('016f5e66-e800-0000-0000-000000000000') TO ('016f638d-4400-0000-0000-000000000000')`,
    );
    for (let times = 0; times < 2; times++) await keepPartitions(test.database, proxyLogPartitions, 7);
    const parts = (
      await test.database.raw(
        `SELECT relid::regclass::text AS name FROM pg_partition_tree('proxy_log') WHERE isleaf`,
      )
    ).map(({ name }) => name);
    const day = (ahead: number): string =>
      `proxy_log_${new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;
    expect(parts).toEqual(expect.arrayContaining([day(0), day(1), day(7), 'proxy_log_default']));
    expect(parts).not.toContain('proxy_log_20200101');
  });
});
