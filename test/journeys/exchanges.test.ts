import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deploy, fault, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Exchange {
  id: string;
  attempt: number;
  request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string;
    bytes: number;
  };
  answer?: { status: number; headers: Record<string, string>; body?: string; bytes: number };
  fault?: string;
  totalMs: number;
}
interface ExchangePage {
  results: Exchange[];
  pagination: { done: boolean; nextPageToken?: string };
}

describe('test/journeys/exchanges', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: Customer;
  let salesforce: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_PROVIDER_CALL_MS: '1500' } });
    await deploy(platform);
  });
  beforeEach(async () => {
    const groupRef = `acme-${++count}`;
    hubspot = await install(platform, 'hubspot-crm', groupRef);
    salesforce = await install(platform, 'salesforce-crm', groupRef);
  });
  afterEach(async () => {
    await Promise.all(
      [platform.hubspot, platform.salesforce].map((url) => simulator(url, 'DELETE', '/faults')),
    );
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const pathOf = (operationId: string, query = ''): string =>
    `/v1/projects/default/operations/${operationId}/exchanges${query}`;
  /** They are written a moment after their end. */
  async function exchangesOf(operationId: string, atLeast: number): Promise<Exchange[]> {
    let found: Exchange[] = [];
    await expect
      .poll(
        async () => {
          const page = await platform.call<ExchangePage>('GET', pathOf(operationId));
          expect([page.status, page.text]).toEqual([200, expect.any(String)]);
          found = page.body.results;
          return found.length;
        },
        { timeout: 5_000 },
      )
      .toBeGreaterThanOrEqual(atLeast);
    return found;
  }
  const company = (name: string, more: Record<string, unknown> = {}) => ({
    type: 'create',
    record: { name },
    ...more,
  });

  it('shows what was sent for a write and what came back, at both providers', async () => {
    const one = await hubspot.write('companies', company('Ada & Co'));
    const [sent] = await exchangesOf(one.body.operationId, 1);
    expect(sent).toMatchObject({
      attempt: 1,
      request: {
        method: 'POST',
        path: expect.stringContaining('/companies') as string,
        headers: { accept: 'application/json', 'content-type': 'application/json' },
      },
      answer: { status: 201, headers: { 'content-type': expect.stringContaining('json') as string } },
    });
    expect(sent?.request.headers).not.toHaveProperty('authorization');
    expect(sent?.request.body).toContain('"name":"Ada & Co"');
    expect(sent?.request.bytes).toBe(Buffer.byteLength(sent?.request.body ?? ''));
    expect(sent?.answer?.body).toContain(`"id":"${one.body.result?.recordId}"`);
    const other = await salesforce.write('Contact', { type: 'create', record: { FirstName: 'Ada' } });
    const [refused] = await exchangesOf(other.body.operationId, 1);
    expect(refused?.answer).toMatchObject({ status: 400 });
    expect(refused?.answer?.body).toContain('REQUIRED_FIELD_MISSING');
  });

  it('shows each attempt of a queued write, and why one had no answer', async () => {
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'status', status: 503 }, times: 1 });
    const { body } = await hubspot.write('companies', company('Later', { mode: 'asynchronous' }));
    await hubspot.settled(body.operationId, 20_000);
    const found = await exchangesOf(body.operationId, 1);
    expect(found[0]).toMatchObject({ attempt: 1, answer: { status: 503 } });
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'hang' }, times: 1 });
    const lost = await hubspot.write('companies', company('Lost'));
    const [silent] = await exchangesOf(lost.body.operationId, 1);
    expect(silent).not.toHaveProperty('answer');
    expect(silent?.fault).toMatch(/^timeout: /);
    expect(silent?.totalMs).toBeGreaterThan(1_000);
  });

  it('shows the request that was answered 401, beside the one with a new token, or without it', async () => {
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'status', status: 401 }, times: 1 });
    const one = await hubspot.write('companies', company('Renewed'));
    const statuses = async (operationId: string, atLeast: number) =>
      (await exchangesOf(operationId, atLeast)).map(({ answer }) => answer?.status);
    expect(await statuses(one.body.operationId, 2)).toEqual([401, 201]);
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'status', status: 401 }, times: 1 });
    await fault(platform.hubspot, {
      path: '/token',
      fault: { kind: 'status', status: 400, body: { error: 'invalid_grant', message: 'The grant is over.' } },
    });
    const two = await hubspot.write('companies', company('Dead', { mode: 'asynchronous' }));
    await hubspot.settled(two.body.operationId, 20_000);
    const found = await exchangesOf(two.body.operationId, 1);
    expect(found.map(({ request, answer }) => [request.path, answer?.status])).toEqual([
      [expect.stringContaining('/companies'), 401],
    ]);
    expect(JSON.stringify(await test.database.raw('SELECT * FROM exchange'))).not.toContain('grant');
  });

  it('shows the requests for metadata that failed before a write', async () => {
    await fault(platform.hubspot, {
      path: '/properties',
      fault: { kind: 'status', status: 503 },
      times: 2,
    });
    // What may have been created is looked for, which takes knowing the fields that are unique.
    await fault(platform.hubspot, {
      path: '/objects/contacts',
      fault: { kind: 'status', status: 503 },
      times: 1,
    });
    const record = { email: `described-${count}@example.com` };
    const { body } = await hubspot.write('contacts', { type: 'create', mode: 'asynchronous', record });
    await hubspot.settled(body.operationId, 30_000);
    const found = await exchangesOf(body.operationId, 2);
    const metadata = found.filter(({ request }) => request.path.includes('/properties'));
    expect(metadata.map(({ answer }) => answer?.status)).toContain(503);
    expect(metadata.map(({ answer }) => answer?.status)).not.toContain(200);
  });

  it('keeps no token that the connections have', async () => {
    const one = await hubspot.write('companies', company('Quiet'));
    const two = await salesforce.write('Contact', { type: 'create', record: { LastName: 'Quiet' } });
    await exchangesOf(one.body.operationId, 1);
    await exchangesOf(two.body.operationId, 1);
    const rows = JSON.stringify(await test.database.raw('SELECT * FROM exchange'));
    for (const { connectionId } of [hubspot, salesforce]) {
      const { text } = await platform.call(
        'GET',
        `/v1/projects/default/connections/${connectionId}?includeRefreshToken=true`,
      );
      const tokens = [...text.matchAll(/"token":"([^"]+)"/g)].map(([, token]) => token ?? '');
      expect(tokens).toHaveLength(2);
      for (const token of tokens) {
        expect(token.length).toBeGreaterThan(8);
        expect(rows).not.toContain(token);
      }
    }
  });

  it('pages, oldest first, and answers nothing of an operation that is not there', async () => {
    // What may have been created is looked for before it is sent again.
    await fault(platform.hubspot, { path: '/contacts', fault: { kind: 'status', status: 503 }, times: 1 });
    const record = { email: `x${count}@example.com` };
    const { body } = await hubspot.write('contacts', { type: 'create', mode: 'asynchronous', record });
    await hubspot.settled(body.operationId, 20_000);
    const all = await exchangesOf(body.operationId, 2);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
    const first = (await platform.call<ExchangePage>('GET', pathOf(body.operationId, '?pageSize=1'))).body;
    expect(first).toMatchObject({ results: [{ id: all[0]?.id }], pagination: { done: false } });
    const rest = `?pageSize=100&pageToken=${first.pagination.nextPageToken}`;
    const second = (await platform.call<ExchangePage>('GET', pathOf(body.operationId, rest))).body;
    expect(second.results.map(({ id }) => id)).toEqual(all.slice(1).map(({ id }) => id));
    for (const id of ['nonsense', hubspot.connectionId])
      expect(await platform.call('GET', pathOf(id))).toMatchObject({ status: 404 });
    expect(await platform.call('GET', pathOf(body.operationId, '?pageToken=abc'))).toMatchObject({
      status: 400,
    });
  });
});
