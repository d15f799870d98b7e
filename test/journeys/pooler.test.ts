import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { findPgbouncer } from '../pgbouncer.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

const skipped = (await findPgbouncer()) ? '' : ' (skipped: pgbouncer is not installed)';

/** With TEST_POOLER set the other journeys go by way of a pooler, too. */
describe.skipIf(skipped)(`test/journeys/pooler${skipped}`, () => {
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  let customer: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url, pooled: true });
    await deploy(first);
    customer = await install(first, 'hubspot-crm', 'acme');
    second = await startPlatform({ databaseUrl: test.url, pooled: true, beside: first });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await test?.drop();
  });

  const create = (node: Platform, email: string, more: Record<string, unknown> = {}, key?: string) =>
    node.call<{ operationId: string }>(
      'POST',
      '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      { groupRef: 'acme', type: 'create', record: { email }, ...more },
      key === undefined ? {} : { headers: { 'idempotency-key': key } },
    );

  it('writes of every kind are done once, by two nodes that share sessions by the transaction', async () => {
    const modes = [
      {},
      { mode: 'asynchronous' },
      { mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 } },
    ];
    const jobs = Array.from({ length: 90 }, (_, n) => ({
      email: `p${n}@example.com`,
      node: n % 2 ? first : second,
      mode: modes[n % modes.length] ?? {},
    }));
    const taken = await Promise.all(
      jobs.map(({ node, email, mode }) => create(node, email, mode, email.replaceAll(/\W/g, '-'))),
    );
    expect(taken.map(({ status }) => status)).toEqual(jobs.map(() => 200));
    // The auto-batches are due in a minute.
    await test.database.raw("UPDATE clock SET shift = shift + interval '2 minutes'");
    for (const { body } of taken)
      expect(await customer.settled(body.operationId, 25_000)).toMatchObject({ status: 'success' });
    const again = await Promise.all(
      jobs.map(({ node, email, mode }) => create(node, email, mode, email.replaceAll(/\W/g, '-'))),
    );
    expect(again.map(({ body }) => body.operationId)).toEqual(taken.map(({ body }) => body.operationId));
    const made = (await effects(first.hubspot, 'contacts'))
      .filter(({ kind }) => kind === 'create')
      .map(({ fields }) => fields['email']);
    for (const { email } of jobs) expect(made.filter((one) => one === email)).toEqual([email]);
  }, 60_000);

  it('the proxy and a restart go the same way', async () => {
    const target = '/crm/v3/objects/contacts?limit=1';
    const call = () =>
      rawCall(first.proxy, {
        target,
        headers: {
          'x-svc-proxy-version': '1',
          'x-svc-project-id': first.projectId,
          'x-api-key': first.apiKey,
          'x-svc-installation-id': customer.installationId,
        },
      });
    expect((await call()).status).toBe(200);
    await first.restart();
    expect((await call()).status).toBe(200);
    expect((await create(first, 'restarted@example.com')).status).toBe(200);
  });
});
