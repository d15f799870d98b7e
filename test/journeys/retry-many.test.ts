import { afterAll, beforeAll, expect, it } from 'vitest';
import { deploy, fault, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Page {
  results: { operationId: string; retriedBy?: string; replayed?: true; refused?: { code: string } }[];
  retried: number;
  before: number;
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

const retry = (body: unknown, key?: string) =>
  platform.call<Page & ProblemBody>(
    'POST',
    '/projects/default/operations:retry',
    body,
    key === undefined ? {} : { key },
  );
const failing = async (object: string): Promise<string> => {
  const answer = await acme.write(object, { type: 'update', record: { id: '99999999', city: 'v' } });
  expect(answer.status).toBe(422);
  return answer.body.operationId;
};

it('what a filter finds is retried once, however often and by however many it is asked, and a dry run does nothing', async () => {
  const companies = [await failing('companies'), await failing('companies')];
  const contact = await failing('contacts');
  await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'reset-after' } });
  const lost = await acme.write('companies', { type: 'create', record: { name: 'Lost' } });
  const filter = { groupRef: 'acme', object: 'companies' };
  const dry = await retry({ filter, dryRun: true });
  expect(dry).toMatchObject({
    status: 200,
    body: {
      results: [
        { operationId: lost.body.operationId, refused: { code: 'outcome-unresolved' } },
        { operationId: companies[1] },
        { operationId: companies[0] },
      ],
      retried: 2,
      refused: 1,
      pagination: { done: true },
    },
  });
  expect(dry.body.results[1]).not.toHaveProperty('retriedBy');
  expect(await acme.operation(companies[0] ?? '')).not.toHaveProperty('retriedBy');
  const [first, same] = await Promise.all([retry({ filter }), retry({ filter })]);
  expect(first.body.retried + same.body.retried).toBe(2);
  expect(first.body.before + same.body.before).toBe(2);
  const by = (answer: typeof first) => answer.body.results.map(({ retriedBy }) => retriedBy);
  expect(by(same)).toEqual(by(first));
  for (const { operationId, retriedBy } of first.body.results.slice(1)) {
    expect(await acme.settled(retriedBy ?? '')).toMatchObject({ status: 'failure', retryOf: operationId });
    expect(await acme.operation(operationId)).toMatchObject({ retriedBy });
  }
  // What was made by it has failed by now, and is found by the next request.
  const next = await retry({ filter, dryRun: true });
  expect(next.body).toMatchObject({ retried: 2, before: 2, refused: 1 });
  expect(next.body.results.slice(2).map(({ retriedBy }) => typeof retriedBy)).toEqual([
    'undefined',
    'string',
    'string',
  ]);
  expect(await acme.operation(contact)).not.toHaveProperty('retriedBy');
});

it('is held to what a caller reaches, and to filters that make sense', async () => {
  const made = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
    label: 'theirs',
    scopes: ['write'],
    groupRef: 'theirs',
  });
  expect((await retry({ filter: {} }, made.body.key)).body).toMatchObject({ results: [], retried: 0 });
  expect(await retry({ filter: { status: 'in_progress' } })).toMatchObject({
    status: 400,
    body: { issues: [{ name: 'filter.status' }] },
  });
  expect(await retry({ filter: { objects: 'x' } })).toMatchObject({ status: 400 });
  expect(await retry({ filter: {}, pageToken: 'x' })).toMatchObject({ status: 400 });
});

it('a batch of which some records failed is found apart, and what failed of it is retried', async () => {
  const batch = ['not an address', 'partly@example.com'].map((email) => ({ record: { email } }));
  const { status, body } = await acme.write('contacts', { type: 'create', batch });
  expect([status, (await acme.operation(body.operationId)).status]).toEqual([200, 'success']);
  const filter = { partlyDone: true, groupRef: 'acme' };
  const query = new URLSearchParams({ partlyDone: 'true', groupRef: 'acme' }).toString();
  const list = await platform.call<{ results: { id: string }[] }>(
    'GET',
    `/projects/default/operations?${query}`,
  );
  expect(list.body.results.map(({ id }) => id)).toEqual([body.operationId]);
  expect((await retry({ filter, dryRun: true })).body).toMatchObject({ retried: 1, before: 0, refused: 0 });
  const [retried] = (await retry({ filter })).body.results;
  expect(await acme.settled(retried?.retriedBy ?? '')).toMatchObject({ counts: { total: 1, failed: 1 } });
  const cancel = await platform.call('POST', '/projects/default/operations:cancel', { filter });
  expect(cancel.status).toBe(400);
});
