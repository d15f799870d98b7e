import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSalesforce } from './index.ts';
import { startOrg, type TestOrg, type Json } from './test-client.ts';

let org: TestOrg;

beforeEach(async () => {
  org = await startOrg();
});
afterEach(() => org.close());

const fault = (input: Record<string, unknown>): Promise<unknown> => org.sim('faults', input);
const accounts = async (): Promise<number> =>
  (await org.api('GET', '/query?q=SELECT+COUNT()+FROM+Account')).body.totalSize;

describe('simulator/salesforce/control', () => {
  it('counts calls in Sforce-Limit-Info and refuses past the day with TotalRequests, until the day has rolled on', async () => {
    await org.sim('quotas', { dailyApiRequests: 15_000, usedApiRequests: 14_998 });
    expect((await org.api('GET', '/limits')).headers.get('sforce-limit-info')).toBe('api-usage=14999/15000');
    expect((await org.api('GET', '/limits')).body.DailyApiRequests).toEqual({ Max: 15_000, Remaining: 0 });
    const refused = await org.api('GET', '/limits');
    expect([refused.status, refused.body]).toEqual([
      403,
      [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
    ]);
    expect(refused.headers.get('retry-after')).toBeNull();
    expect(refused.headers.get('sforce-limit-info')).toBe('api-usage=15000/15000');
    await org.sim('clock', { advanceMs: 24 * 3_600_000 });
    const { accessToken } = await org.issue();
    const later = await org.api('GET', '/limits', undefined, { authorization: `Bearer ${accessToken}` });
    expect([later.status, later.headers.get('sforce-limit-info')]).toEqual([200, 'api-usage=1/15000']);
  });

  it('refuses with ConcurrentRequests while long calls fill the places', async () => {
    await org.sim('quotas', { concurrentBusy: 25 });
    const { status, body } = await org.api('GET', '/limits');
    expect([status, body[0]]).toEqual([
      403,
      {
        message: 'ConcurrentRequests (Concurrent API Requests) Limit exceeded.',
        errorCode: 'REQUEST_LIMIT_EXCEEDED',
      },
    ]);
    await org.sim('quotas', { concurrentBusy: 24 });
    expect((await org.api('GET', '/limits')).status).toBe(200);
  });

  it('loses the request before the effect and the answer after it', async () => {
    const before = await accounts();
    await fault({ object: 'Account', method: 'POST', fault: { kind: 'reset-before' } });
    await expect(org.api('POST', '/sobjects/Account', { Name: 'x' })).rejects.toThrow('fetch failed');
    expect(await accounts()).toBe(before);
    await fault({ object: 'Account', method: 'POST', fault: { kind: 'reset-after' } });
    await expect(org.api('POST', '/sobjects/Account', { Name: 'x' })).rejects.toThrow('fetch failed');
    await fault({ path: '/sobjects/Account', method: 'POST', fault: { kind: 'truncate' } });
    await expect(org.api('POST', '/sobjects/Account', { Name: 'y' })).rejects.toThrow('terminated');
    expect(await accounts()).toBe(before + 2);
  });

  it('answers injected statuses with or without the effect, for as many calls as asked', async () => {
    const before = await accounts();
    const body = [{ message: 'Server is too busy', errorCode: 'SERVER_UNAVAILABLE' }];
    await fault({
      object: 'Account',
      method: 'POST',
      times: 2,
      fault: { kind: 'status', status: 503, body },
    });
    const records = [{ attributes: { type: 'Account' }, Name: 'x' }];
    const first = await org.api('POST', '/composite/sobjects', { records });
    expect([first.status, first.body]).toEqual([503, body]);
    expect((await org.api('POST', '/sobjects/account', { Name: 'x' })).status).toBe(503);
    expect((await org.api('POST', '/sobjects/Account', { Name: 'x' })).status).toBe(201);
    await fault({ object: 'Account', fault: { kind: 'status', status: 500, body, effect: true } });
    expect((await org.api('POST', '/sobjects/Account', { Name: 'x' })).status).toBe(500);
    expect(await accounts()).toBe(before + 2);
  });

  it('keeps a ledger of requests with their headers and of effects with their cause', async () => {
    const headers = { 'Sforce-Auto-Assign': 'FALSE' };
    const { body } = await org.api('POST', '/sobjects/Lead', { LastName: 'L', Company: 'C' }, headers);
    await org.api('PATCH', `/sobjects/Lead/${body.id}`, { title: 'T' });
    await org.api('DELETE', `/sobjects/Lead/${body.id}`);
    const { requests } = await org.sim('requests?path=/sobjects/Lead');
    expect(requests.map((r: Json) => [r.method, r.status])).toEqual([
      ['POST', 201],
      ['PATCH', 204],
      ['DELETE', 204],
    ]);
    expect(requests[0]).toMatchObject({
      body: '{"LastName":"L","Company":"C"}',
      headers: { 'sforce-auto-assign': 'FALSE' },
    });
    const { effects } = await org.sim('effects?object=Lead');
    expect(effects.map((e: Json) => [e.kind, e.id, e.fields])).toEqual([
      ['create', body.id, { LastName: 'L', Company: 'C' }],
      ['update', body.id, { Title: 'T' }],
      ['delete', body.id, {}],
    ]);
    expect(requests[0].effectIds).toEqual([effects[0].seq]);
  });

  it('makes, changes and shows data and objects without a session', async () => {
    await org.sim('schema', {
      objects: [
        { name: 'Thing__c', keyPrefix: 'a09', fields: [{ name: 'Size__c', type: 'double', scale: 1 }] },
      ],
    });
    const { ids } = await org.sim('data', {
      object: 'Thing__c',
      records: [{ Size__c: 1.26 }, { Size__c: 2 }],
    });
    await org.sim('data', { object: 'Thing__c', action: 'delete', records: [{ Id: ids[1] }] });
    expect(await org.sim(`data/Thing__c/${ids[0]}`)).toMatchObject({ Size__c: 1.3, IsDeleted: false });
    expect((await org.sim('data/Thing__c')).records).toHaveLength(2);
    expect((await org.api('GET', '/query?q=SELECT+Size__c+FROM+Thing__c')).body.totalSize).toBe(1);
    expect((await org.call('GET', '/__sim/data/Nope')).status).toBe(404);
  });

  it('starts over on reset, the same for the same seed', async () => {
    const names = async (): Promise<unknown> =>
      (await org.api('GET', '/query?q=SELECT+Id,Name,Email+FROM+Contact')).body.records;
    const first = await names();
    await org.api('POST', '/sobjects/Contact', { LastName: 'extra' });
    await org.sim('reset', {});
    const { accessToken } = await org.issue();
    const again = await org.api('GET', '/query?q=SELECT+Id,Name,Email+FROM+Contact', undefined, {
      authorization: `Bearer ${accessToken}`,
    });
    expect(again.body.records).toEqual(first);
    expect((await org.sim('requests?path=Contact')).requests).toHaveLength(1);
  });

  it('makes 50,000 contacts in less than two seconds of work', async () => {
    const started = process.cpuUsage();
    const big = await startSalesforce({ records: 50_000 });
    const used = process.cpuUsage(started);
    const { records } = (await (await fetch(`${big.url}/__sim/data/Contact`)).json()) as Json;
    await big.close();
    expect(records).toHaveLength(50_000);
    expect((used.user + used.system) / 1000).toBeLessThan(2000);
  });
});
