import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  connect,
  deploy,
  effects,
  fault,
  install,
  manifest,
  requestsOf,
  type Customer,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

/** An external id that is not unique: whichever comes second makes a second record. */
const object = 'UpsertTable__c';

let test: TestDatabase;
let platform: Platform;
let acme: Customer;

beforeAll(async () => {
  test = await createTestDatabase();
  platform = await startPlatform({
    databaseUrl: test.url,
    env: { SVC_PROVIDER_CALL_MS: '1000', SVC_LATE_EFFECT_MS: '9000' },
  });
  await deploy(platform, manifest.replace('objectName: Lead', `objectName: Lead }, { objectName: ${object}`));
  acme = await install(platform, 'salesforce-crm', 'acme');
});
afterAll(async () => {
  await platform?.stop();
  await test?.drop();
});

const lateMs = 6_000;

it.each([
  ['create', 'POST', {}],
  ['upsert', 'PATCH', { upsertBy: 'ExtId__c' }],
] as const)(
  'a lost %s that may still come is not sent again because the customer connects again',
  async (type, method, more) => {
    const record = { ExtId__c: `quiet-${type}`, Name: 'Ada' };
    const sent = async () =>
      (await requestsOf(platform.salesforce)).filter(
        (one) => one.method === method && one.path.includes(object),
      ).length;
    await fault(platform.salesforce, { method, path: object, fault: { kind: 'late', ms: lateMs } });
    const taken = await acme.write(object, { type, mode: 'asynchronous', record, ...more });
    const { operationId } = taken.body;
    const attempts = async () => (await acme.operation(operationId)).metadata?.retry?.attempts;
    await expect.poll(attempts, { timeout: 5_000 }).toBe(1);
    expect(await connect(platform, 'salesforce', 'acme')).toBe(acme.connectionId);
    await sleep(lateMs);
    expect(await sent()).toBe(1);
    const expected = { status: 'success', metadata: { retry: { attempts: 2 } } };
    expect(await acme.settled(operationId, 30_000)).toMatchObject(expected);
    const made = (await effects(platform.salesforce, object)).filter(({ kind }) => kind === 'create');
    expect(made.filter(({ fields }) => Object.values(fields).includes(record.ExtId__c))).toHaveLength(1);
  },
  60_000,
);
