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
  type OperationBody,
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
    env: { SVC_LEASE_MS: '2000', SVC_PROVIDER_CALL_MS: '1000', SVC_LATE_EFFECT_MS: '9000' },
  });
  await deploy(platform, manifest.replace('objectName: Lead', `objectName: Lead }, { objectName: ${object}`));
  acme = await install(platform, 'salesforce-crm', 'acme');
});
afterAll(async () => {
  await platform?.stop();
  await test?.drop();
});

const lateMs = 6_000;

const sent = async (method: string) =>
  (await requestsOf(platform.salesforce)).filter((one) => one.method === method && one.path.includes(object))
    .length;
const made = async (value: string) =>
  (await effects(platform.salesforce, object)).filter(
    ({ kind, fields }) => kind === 'create' && Object.values(fields).includes(value),
  );

it.each([
  ['create', 'POST', {}],
  ['upsert', 'PATCH', { upsertBy: 'ExtId__c' }],
] as const)(
  'a lost %s that may still come is not sent again because the customer connects again',
  async (type, method, more) => {
    const record = { ExtId__c: `quiet-${type}`, Name: 'Ada' };
    await fault(platform.salesforce, { method, path: object, fault: { kind: 'late', ms: lateMs } });
    const taken = await acme.write(object, { type, mode: 'asynchronous', record, ...more });
    const { operationId } = taken.body;
    const attempts = async () => (await acme.operation(operationId)).metadata?.retry?.attempts;
    await expect.poll(attempts, { timeout: 5_000 }).toBe(1);
    expect(await connect(platform, 'salesforce', 'acme')).toBe(acme.connectionId);
    await sleep(lateMs);
    expect(await sent(method)).toBe(1);
    const expected = { status: 'success', metadata: { retry: { attempts: 2 } } };
    expect(await acme.settled(operationId, 30_000)).toMatchObject(expected);
    expect(await made(record.ExtId__c)).toHaveLength(1);
  },
  60_000,
);

it('a synchronous upsert is not sent again before what the node sent that rescued it can no longer come', async () => {
  const record = { ExtId__c: 'quiet-rescued', Name: 'Ada' };
  const before = await sent('PATCH');
  const isDead = () => expect.poll(() => platform.process().signalCode, { timeout: 20_000 }).toBe('SIGKILL');
  const lost = (kind: string, more = {}) =>
    fault(platform.salesforce, { method: 'PATCH', path: record.ExtId__c, fault: { kind, ...more } });
  await lost('reset-before');
  await platform.restart('SIGTERM', { SVC_CRASH_AT: 'before-record:1' });
  await expect(acme.write(object, { type: 'upsert', upsertBy: 'ExtId__c', record })).rejects.toThrow(
    'not answered',
  );
  await isDead();
  // This one writes down that the answer was lost, sends it again in time, and dies.
  await platform.restart('SIGKILL', { SVC_CRASH_AT: 'before-record:2' });
  const path = `/projects/${platform.projectId}/integrations/${acme.integration}/installations/${acme.installationId}/operations`;
  const newest = async () =>
    (await platform.call<{ results: OperationBody[] }>('GET', `${path}?pageSize=1`)).body.results[0];
  const nextAttempt = async () => (await newest())?.metadata?.retry?.nextAttempt;
  await expect.poll(nextAttempt, { timeout: 20_000 }).toEqual(expect.any(String));
  expect(await sent('PATCH')).toBe(before + 1);
  await lost('late', { ms: lateMs });
  await test.database.raw(`UPDATE clock SET shift = shift + interval '10 seconds'`);
  await isDead();
  expect(await sent('PATCH')).toBe(before + 2);
  await platform.restart('SIGKILL');
  await sleep(lateMs);
  expect(await sent('PATCH')).toBe(before + 2);
  expect(await acme.settled((await newest())?.id ?? '', 30_000)).toMatchObject({ status: 'success' });
  expect(await made(record.ExtId__c)).toHaveLength(1);
}, 90_000);
