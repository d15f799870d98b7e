import { afterAll, beforeAll, expect, it } from 'vitest';
import { deploy, effects, fault, install, type Customer, type ProblemBody } from '../customer.ts';
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
        { operationId: companies[0] },
        { operationId: companies[1] },
        { operationId: lost.body.operationId, refused: { code: 'outcome-unresolved' } },
      ],
      retried: 2,
      refused: 1,
      pagination: { done: true },
    },
  });
  expect(dry.body.results[0]).not.toHaveProperty('retriedBy');
  expect(await acme.operation(companies[0] ?? '')).not.toHaveProperty('retriedBy');
  const [first, same] = await Promise.all([retry({ filter }), retry({ filter })]);
  expect(first.body.retried + same.body.retried).toBe(2);
  expect(first.body.before + same.body.before).toBe(2);
  const by = (answer: typeof first) => answer.body.results.map(({ retriedBy }) => retriedBy);
  expect(by(same)).toEqual(by(first));
  for (const { operationId, retriedBy } of first.body.results.slice(0, 2)) {
    expect(await acme.settled(retriedBy ?? '')).toMatchObject({ status: 'failure', retryOf: operationId });
    expect(await acme.operation(operationId)).toMatchObject({ retriedBy });
  }
  // What was made by it has failed by now, and is found by the next request.
  const next = await retry({ filter, dryRun: true });
  expect(next.body).toMatchObject({ retried: 2, before: 2, refused: 1 });
  expect(next.body.results.slice(0, 3).map(({ retriedBy }) => typeof retriedBy)).toEqual([
    'string',
    'string',
    'undefined',
  ]);
  expect(await acme.operation(contact)).not.toHaveProperty('retriedBy');
});

it('changes of one record are written again in the order in which they were accepted, page after page', async () => {
  const made = await acme.write('contacts', { type: 'create', record: { email: 'often@example.com' } });
  const id = made.body.result?.recordId ?? '';
  const cities = Array.from({ length: 52 }, (_, at) => `city ${at}`);
  const refusal = { kind: 'status', status: 400 };
  await fault(platform.hubspot, { method: 'PATCH', path: id, fault: refusal, times: cities.length });
  const failed: string[] = [];
  for (const city of cities) {
    const answer = await acme.write('contacts', { type: 'update', record: { id, city } });
    expect(answer.status).toBe(422);
    failed.push(answer.body.operationId);
  }
  const filter = { object: 'contacts', from: new Date(Date.now() - 3_600_000).toISOString() };
  const first = await retry({ filter });
  const second = await retry({ filter, pageToken: first.body.pagination.nextPageToken });
  const pages = [...first.body.results, ...second.body.results];
  expect([first.body.retried, second.body]).toMatchObject([50, { pagination: { done: true } }]);
  expect(pages.map(({ operationId }) => operationId).filter((one) => failed.includes(one))).toEqual(failed);
  for (const { retriedBy } of pages) if (retriedBy !== undefined) await acme.settled(retriedBy);
  const changes = (await effects(platform.hubspot, 'contacts')).filter(
    (one) => one.kind === 'update' && one.id === id,
  );
  expect(changes.map(({ fields }) => fields['city'])).toEqual(cities);
  // What was made by it failed in no page of its own.
  const again = await retry({ filter });
  expect(again.body).toMatchObject({ retried: 0, before: 50 });
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

it('says of an operation whose installation was deleted that its records are sent anew, though the group has another one', async () => {
  const former = await install(platform, 'hubspot-crm', 'former');
  const failed = await former.write('contacts', { type: 'update', record: { id: '99999999', city: 'v' } });
  const at = '/projects/default/integrations/hubspot-crm/installations';
  expect((await platform.call('DELETE', `${at}/${former.installationId}`)).status).toBe(204);
  await install(platform, 'hubspot-crm', 'former');
  const operation = `/projects/default/operations/${failed.body.operationId}`;
  expect(await platform.call('POST', `${operation}:retry`)).toMatchObject({
    status: 404,
    body: {
      code: 'installation-not-found',
      remedy: expect.stringContaining('in a new write') as string,
    },
  });
});
