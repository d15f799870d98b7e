import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, fault, install, type Customer } from '../../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startPlatform, type Platform } from '../../../test/platform.ts';
import { Svc, type Sent } from '../src/index.ts';

describe('ui/client/platform', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  /** The fetch of each call, which tests replace to lose answers. */
  let send: (url: string, sent: Sent) => Promise<Response>;
  let svc: Svc;
  const to = { integration: 'hubspot-crm', object: 'contacts', groupRef: 'acme', type: 'create' } as const;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    svc = new Svc({
      baseUrl: platform.base,
      project: 'default',
      apiKey: platform.apiKey,
      fetch: (url, sent) => send(url, sent),
    });
  }, 120_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const createdWith = async (email: string): Promise<number> =>
    (await effects(platform.hubspot, 'contacts')).filter(
      ({ kind, fields }) => kind === 'create' && fields['email'] === email,
    ).length;

  it('a write whose answers are lost is done once', async () => {
    let lost = 0;
    send = async (url, sent) => {
      const answer = await fetch(url, sent);
      if ((lost += 1) <= 2) throw new TypeError('the answer was lost');
      return answer;
    };
    const { result, operationId } = await svc.write({ ...to, record: { email: 'lost@example.com' } });
    expect(lost).toBe(3);
    expect(result.recordId).toBeDefined();
    expect(await createdWith('lost@example.com')).toBe(1);
    expect((await svc.operations.get(operationId)).status).toBe('success');
  }, 60_000);

  it('a write that the provider throttles is done by the next attempt, in place of the first', async () => {
    const keys: (string | null)[] = [];
    send = (url, sent) => {
      keys.push(sent.headers.get('idempotency-key'));
      return fetch(url, sent);
    };
    const body = {
      status: 'error',
      message: 'too many',
      errorType: 'RATE_LIMIT',
      policyName: 'TEN_SECONDLY_ROLLING',
    };
    await fault(platform.hubspot, {
      method: 'POST',
      object: 'contacts',
      times: 1,
      fault: { kind: 'status', status: 429, body, headers: { 'retry-after': '1' } },
    });
    const record = { email: 'throttled@example.com' };
    const first = await svc.write({ ...to, record }, { idempotencyKey: 'order-1' });
    expect(new Set(keys)).toEqual(new Set(['order-1']));
    const again = await svc.write({ ...to, record }, { idempotencyKey: 'order-1' });
    expect(again).toMatchObject({
      operationId: first.operationId,
      result: { recordId: first.result.recordId },
    });
    // What stands in place of the failed one is known, so nobody can write it a third time.
    const failed = [];
    for await (const one of svc.operations.find({ object: 'contacts', status: 'failure' })) failed.push(one);
    const throttled = failed.find(({ retriedBy }) => retriedBy === first.operationId);
    expect(await svc.operations.retry(throttled?.id ?? '')).toEqual({ operationId: first.operationId });
    expect(await createdWith('throttled@example.com')).toBe(1);
  }, 60_000);

  it('lists are read to their end, page by page', async () => {
    send = fetch;
    const { operationId } = await svc.writeBatch({
      ...to,
      mode: 'asynchronous',
      batch: Array.from({ length: 7 }, (_, n) => ({ record: { email: `page-${n}@example.com` } })),
    });
    await svc.operations.wait(operationId, { signal: AbortSignal.timeout(30_000) });
    const indexes: number[] = [];
    for await (const { index } of svc.operations.records(operationId, { pageSize: 3 })) indexes.push(index);
    expect(indexes).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const sizes: number[] = [];
    for await (const { results } of svc.operations.records(operationId, { pageSize: 3 }).pages())
      sizes.push(results.length);
    expect(sizes).toEqual([3, 3, 1]);
    const ids: string[] = [];
    const found: string[] = [];
    for await (const { id } of svc.operations.find({ object: 'contacts', status: 'success', pageSize: 1 }))
      found.push(id);
    expect(found).toContain(operationId);
    expect(new Set(found).size).toBe(found.length);
    for await (const { id } of svc.operations.find({ object: 'companies' })) found.push(`wrong ${id}`);
    expect(found.filter((id) => id.startsWith('wrong'))).toEqual([]);
    for await (const { id } of svc.installations.list({ groupRef: 'acme' })) ids.push(id);
    expect(ids).toEqual([customer.installationId]);
  }, 60_000);
});
