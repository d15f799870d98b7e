import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/rate-limit', () => {
  const perSecond = 20;
  const env = { SVC_RATE_LIMIT_PER_KEY: String(perSecond) };
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  let customer: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url, env });
    await deploy(first);
    customer = await install(first, 'hubspot-crm', 'group-1');
    second = await startPlatform({ databaseUrl: test.url, beside: first, env });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await test?.drop();
  });

  it('a key has one budget on two nodes and all surfaces; another key has its own, and scrapes cost nothing', async () => {
    const { body: other } = await first.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'other',
      scopes: ['read'],
    });
    const proxied = (node: Platform) =>
      fetch(`${node.proxy}/crm/v3/objects/contacts?limit=1`, {
        headers: {
          'x-api-key': first.apiKey,
          'x-svc-proxy-version': '1',
          'x-svc-project-id': first.projectId,
          'x-svc-integration-name': 'hubspot-crm',
          'x-svc-group-ref': customer.groupRef,
        },
      });
    const statuses = new Map<number, number>();
    const seen: Response[] = [];
    const endsAt = performance.now() + 2_000;
    while (performance.now() < endsAt) {
      const answers = await Promise.all([
        proxied(first),
        proxied(second),
        fetch(`${first.base}/v1/projects`, { headers: { 'x-api-key': first.apiKey } }),
        fetch(`${second.base}/v1/projects`, { headers: { 'x-api-key': first.apiKey } }),
      ]);
      for (const answer of answers) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        seen.push(answer);
        await answer.arrayBuffer();
      }
    }
    expect(new Set(statuses.keys())).toEqual(new Set([200, 429]));
    // The last round may end after the time.
    expect(statuses.get(200)).toBeLessThanOrEqual(4 * perSecond);
    expect(statuses.get(200)).toBeGreaterThanOrEqual(2 * perSecond);
    const refusals = seen.filter(({ status }) => status === 429);
    expect(new Set(refusals.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
    const byProxy = refusals.filter(({ headers }) => headers.get('x-svc-problem') === 'rate-limited');
    expect(byProxy.length).toBeGreaterThan(0);
    expect(byProxy.length).toBeLessThan(refusals.length);

    const asked = await second.call('GET', '/projects', undefined, { key: other.key });
    expect(asked.status).toBe(200);
    const scrape = await first.call('GET', '/metrics');
    expect(scrape.status).toBe(200);
    expect(scrape.text).toMatch(/svc_rate_limited_total\{surface="proxy"\} [1-9]/);
  });
});
