import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, fault, install, requestsOf, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const connections = 32;
const writesEach = 20;

describe('test/journeys/hanging-provider', () => {
  let test: TestDatabase;
  let platform: Platform;
  let other: Customer;
  const customers: Customer[] = [];
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_PROVIDER_CALL_MS: '20000', SVC_SHUTDOWN_MS: '0' },
    });
    await deploy(platform);
    other = await install(platform, 'salesforce-crm', 'other');
    for (let n = 0; n < connections; n += 1)
      customers.push(await install(platform, 'hubspot-crm', `hangs-${n}`));
  }, 120_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  async function timeOfOther(): Promise<number> {
    const startedAt = performance.now();
    const taken = await other.write('Contact', {
      type: 'create',
      mode: 'asynchronous',
      record: { LastName: `Other ${++count}` },
    });
    expect(taken.status).toBe(200);
    expect(await other.settled(taken.body.operationId ?? '', 25_000)).toMatchObject({ status: 'success' });
    return performance.now() - startedAt;
  }

  it('connections that hang leave the writes to another provider as quick as they were', async () => {
    await timeOfOther();
    const alone = Math.max(await timeOfOther(), await timeOfOther());
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      fault: { kind: 'hang' },
      times: 10_000,
    });
    const before = (await requestsOf(platform.hubspot)).length;
    for (const customer of customers) {
      await Promise.all(
        Array.from({ length: writesEach }, () =>
          customer.write('contacts', {
            type: 'create',
            mode: 'asynchronous',
            record: { email: `h${++count}@example.com` },
          }),
        ),
      );
    }
    await expect
      .poll(async () => (await requestsOf(platform.hubspot)).length - before, { timeout: 15_000 })
      .toBeGreaterThanOrEqual(connections);
    for (let times = 0; times < 5; times += 1) expect(await timeOfOther()).toBeLessThan(1_000 + 3 * alone);
  }, 90_000);
});
