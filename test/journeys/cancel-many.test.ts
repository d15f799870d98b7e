import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  deploy,
  effects,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Page {
  results: { operationId: string; refused?: { code: string; detail: string } }[];
  canceled: number;
  refused: number;
  pagination: { done: boolean; nextPageToken?: string };
}

let test: TestDatabase;
let platform: Platform;
let acme: Customer;

beforeAll(async () => {
  test = await createTestDatabase();
  platform = await startPlatform({ databaseUrl: test.url });
  await deploy(platform);
  acme = await install(platform, 'hubspot-crm', 'acme');
});
afterAll(async () => {
  await platform?.stop();
  await test?.drop();
});

const cancel = (body: unknown, key?: string) =>
  platform.call<Page & ProblemBody>(
    'POST',
    '/projects/default/operations:cancel',
    body,
    key === undefined ? {} : { key },
  );
const queue = async (body: Record<string, unknown>): Promise<string> => {
  const answer = await acme.write('companies', { mode: 'asynchronous', ...body });
  expect(answer.status).toBe(200);
  return answer.body.operationId;
};
const filter = { groupRef: 'acme', object: 'companies' };

it('ends what waits without sending it; later writes of the record are sent, and what was canceled can be retried', async () => {
  const made = await acme.write('companies', { type: 'create', record: { name: 'Made' } });
  const id = made.body.result?.recordId ?? '';
  // Nothing can be sent for a while: an attempt fails, and the next is seconds away.
  const status = { kind: 'status', status: 429, headers: { 'retry-after': '6' } };
  await fault(platform.hubspot, { path: '/companies', fault: status });
  const first = await queue({ type: 'update', record: { id, city: 'one' } });
  await expect.poll(async () => (await acme.operation(first)).metadata?.retry?.attempts).toBe(1);
  const second = await queue({ type: 'update', record: { id, city: 'two' } });
  const gathers = await queue({
    type: 'create',
    record: { name: 'Gathers' },
    autoBatchPolicy: { maxDelayMinutes: 10 },
  });
  const dry = await cancel({ filter, dryRun: true });
  expect(dry.body).toMatchObject({
    results: [
      { operationId: gathers, refused: { code: 'operation-in-progress' } },
      { operationId: second },
      { operationId: first },
    ],
    canceled: 2,
    refused: 1,
    pagination: { done: true },
  });
  expect(await acme.operation(second)).toMatchObject({ status: 'in_progress' });
  expect((await cancel({ filter })).body).toMatchObject({ canceled: 2, refused: 1 });
  expect(await acme.operation(first)).toMatchObject({
    status: 'failure',
    counts: { failed: 1, unknown: 0 },
    errors: [{ category: 'rateLimit', message: expect.stringContaining('it was canceled before') as string }],
  });
  expect(await acme.operation(second)).toMatchObject({
    status: 'failure',
    errors: [{ message: expect.stringContaining('it was canceled; nothing was sent') as string }],
    metadata: { retry: { attempts: 0 } },
  });
  expect((await cancel({ filter })).body).toMatchObject({ canceled: 0, refused: 1 });
  const left = await test.database.raw('SELECT FROM turn t JOIN project p ON p.id = t.project_id');
  expect(left).toHaveLength(0);

  await simulator(platform.hubspot, 'DELETE', '/faults');
  const retried = await platform.call<{ operationId: string }>(
    'POST',
    `/projects/default/operations/${second}:retry`,
  );
  expect(await acme.settled(retried.body.operationId, 20_000)).toMatchObject({ status: 'success' });
  const cities = (await effects(platform.hubspot, 'companies')).filter((one) => one.id === id);
  expect(cities.map(({ fields }) => fields['city']).filter(Boolean)).toEqual(['two']);
  const audit = await platform.call<{ results: { target: { id: string } }[] }>(
    'GET',
    `/projects/default/audit-log?action=operation.canceled&groupRef=${acme.groupRef}`,
  );
  const canceled = audit.body.results.map(({ target }) => target.id);
  expect(canceled).toEqual(expect.arrayContaining([first, second]));
  expect(canceled).not.toContain(gathers);
});

it('leaves alone what may have been sent, and what its caller does not reach', async () => {
  await fault(platform.hubspot, { method: 'POST', path: '/contacts', fault: { kind: 'hang' } });
  const answer = await acme.write('contacts', {
    type: 'create',
    mode: 'asynchronous',
    record: { email: 'hangs@example.com' },
  });
  const { operationId } = answer.body;
  await expect
    .poll(
      async () => (await requestsOf(platform.hubspot)).filter(({ body }) => body.includes('hangs@')).length,
    )
    .toBe(1);
  expect((await cancel({ filter: { object: 'contacts' } })).body.results).toMatchObject([
    { operationId, refused: { code: 'operation-in-progress' } },
  ]);
  const made = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
    label: 'theirs',
    scopes: ['write'],
    groupRef: 'theirs',
  });
  expect((await cancel({ filter: {} }, made.body.key)).body).toMatchObject({ results: [], canceled: 0 });
  expect(await cancel({ filter: { status: 'failure' } })).toMatchObject({
    status: 400,
    body: { issues: [{ name: expect.stringContaining('status') as string }] },
  });
  await simulator(platform.hubspot, 'DELETE', '/faults');
});

it('leaves alone a large batch that may have been done already', async () => {
  const lost = { kind: 'reset-before' };
  const unread = { kind: 'status', status: 503 };
  await fault(platform.hubspot, { method: 'POST', path: '/batch/create', fault: lost });
  await fault(platform.hubspot, { path: '/batch/read', times: 100, fault: unread });
  const lastname = 'x'.repeat(3_000);
  const answer = await acme.write('contacts', {
    type: 'create',
    mode: 'asynchronous',
    batch: Array.from({ length: 100 }, (_, at) => ({
      record: { email: `large${at}@example.com`, lastname },
    })),
  });
  const { operationId } = answer.body;
  const attempts = async () => (await acme.operation(operationId)).metadata?.retry?.attempts ?? 0;
  await expect.poll(attempts, { timeout: 10_000 }).toBeGreaterThan(0);
  const canceled = (dryRun: boolean) => async () => {
    const { results } = (await cancel({ filter: { object: 'contacts' }, dryRun })).body;
    return results.find((one) => one.operationId === operationId)?.refused?.detail ?? 'it is canceled';
  };
  for (const dryRun of [true, false])
    await expect.poll(canceled(dryRun), { timeout: 10_000 }).toMatch(/^It may have been done already/);
  expect(await acme.operation(operationId)).toMatchObject({
    status: 'in_progress',
    errors: expect.arrayContaining([expect.objectContaining({ category: 'unknownOutcome' })]) as unknown,
  });
  await simulator(platform.hubspot, 'DELETE', '/faults');
  expect(await acme.settled(operationId, 30_000)).toMatchObject({ counts: { succeeded: 100, unknown: 0 } });
}, 60_000);
