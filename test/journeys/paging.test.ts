import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Item {
  id: string;
}
interface Page {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}

const groups = ['a', 'b', 'c', 'd', 'e'];
const base = '/projects/default';
const lists = [
  `${base}/connections`,
  `${base}/installations`,
  `${base}/integrations/hubspot-crm/installations`,
  `${base}/integrations`,
  `${base}/provider-apps`,
  `${base}/api-keys`,
  `${base}/jwt-keys`,
  `${base}/connect-links`,
  `${base}/topics`,
  `${base}/notification-event-topic-routes`,
  `${base}/topic-destination-routes`,
];

describe('test/journeys/paging', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    for (const group of groups) await install(platform, 'hubspot-crm', group);
    for (const name of ['slack', 'github', 'linear'])
      await made('POST', `${base}/provider-apps`, { provider: name, clientId: name, clientSecret: 's' });
    for (const groupRef of groups)
      await made('POST', `${base}/connect-links`, {
        integration: 'hubspot-crm',
        groupRef,
        consumerRef: 'ada',
      });
    for (const label of groups) await made('POST', `${base}/api-keys`, { label, scopes: ['read'] });
    const destination = await made('POST', `${base}/destinations`, {
      name: 'told',
      type: 'webhook',
      metadata: { url: 'https://told.example.com/' },
    });
    for (const name of ['one', 'two', 'three']) {
      const { id: topicId } = await made('POST', `${base}/topics`, { name });
      const eventType = 'connection.error';
      await made('POST', `${base}/notification-event-topic-routes`, { eventType, topicId });
      await made('POST', `${base}/topic-destination-routes`, { topicId, destinationId: destination.id });
    }
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  async function made(method: string, path: string, body: unknown): Promise<Item> {
    const answer = await platform.call<Item>(method, path, body);
    expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text]);
    return answer.body;
  }
  const read = async <Body>(path: string, key?: string): Promise<Body> => {
    const answer = await platform.call<Body>('GET', path, undefined, key === undefined ? {} : { key });
    expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
    return answer.body;
  };
  const idsOf = (items: Item[]): string[] => items.map(({ id }) => id);

  /** All pages after one another; `between` is done after the first. */
  async function walk(
    path: string,
    pageSize: number,
    between?: (page: Page) => Promise<unknown>,
  ): Promise<Item[]> {
    const found: Item[] = [];
    let token: string | undefined;
    do {
      const asked = `${path}${path.includes('?') ? '&' : '?'}pageSize=${pageSize}`;
      const page: Page = await read(token === undefined ? asked : `${asked}&pageToken=${token}`);
      expect(page.results.length).toBeLessThanOrEqual(pageSize);
      if (found.length === 0) await between?.(page);
      found.push(...page.results);
      token = page.pagination.nextPageToken;
      expect(page.pagination.done).toBe(token === undefined);
    } while (token !== undefined);
    return found;
  }

  it.each(lists)('%s is whole unless a page is asked for, and its pages are the whole', async (path) => {
    const whole = await read<Item[]>(path);
    expect(Array.isArray(whole)).toBe(true);
    for (const size of [1, 2, 1_000]) {
      const paged = await walk(path, size);
      expect(idsOf(paged).toSorted()).toEqual(idsOf(whole).toSorted());
      expect(paged).toEqual(expect.arrayContaining(whole));
    }
  });

  it('connections and installations come newest first, and only those that the query and the key may see', async () => {
    for (const path of [`${base}/connections`, `${base}/installations`]) {
      expect(idsOf(await walk(path, 2))).toEqual(idsOf(await read(path)));
      const [one, ...others] = await walk(`${path}?groupRef=c`, 1);
      expect([one, others]).toMatchObject([{ group: { groupRef: 'c' } }, []]);
    }
    const { key } = (await made('POST', `${base}/api-keys`, {
      label: 'of b',
      scopes: ['read'],
      groupRef: 'b',
    })) as Item & { key: string };
    for (const path of [`${base}/connections`, `${base}/installations`]) {
      expect(await read<Page>(`${path}?pageSize=4`, key)).toMatchObject({
        results: [{ group: { groupRef: 'b' } }],
        pagination: { done: true },
      });
      expect(await read(`${path}?pageSize=4&groupRef=a`, key)).toEqual({
        results: [],
        pagination: { done: true },
      });
    }
  });

  it('an installation of a page shows its connection', async () => {
    const { results } = await read<{ results: { connection?: Item; group: object }[] }>(
      `${base}/installations?pageSize=3`,
    );
    expect(results.map(({ connection }) => typeof connection?.id)).toEqual(['string', 'string', 'string']);
  });

  it('nothing is lost or listed twice when things are made and deleted between pages', async () => {
    const before = idsOf(await read<Item[]>(`${base}/connections`));
    const seen = await walk(`${base}/connections`, 2, async ({ results }) => {
      await platform.call('DELETE', `${base}/connections/${results[1]?.id}`);
      await install(platform, 'hubspot-crm', 'late');
    });
    expect(idsOf(seen)).toEqual(before);
  });

  it.each(lists)('%s refuses what is no page of it', async (path) => {
    for (const query of ['pageSize=0', 'pageSize=1001', 'pageSize=x', 'pageToken=zzz', 'pageToken=']) {
      const answer = await platform.call<{ issues?: unknown }>('GET', `${path}?${query}`);
      expect([query, answer.status]).toEqual([query, 400]);
      expect(answer.body.issues).toMatchObject([{ in: 'query', name: query.split('=')[0] }]);
    }
  });

  it('every list of the document can be asked for by the page, but those that are bounded', async () => {
    const document = await read<{
      paths: Record<string, { get?: { operationId: string; parameters?: { name: string }[] } }>;
    }>('/openapi.json');
    const unpaged = Object.values(document.paths).flatMap(({ get }) => {
      if (!get?.operationId.startsWith('list')) return [];
      const names = get.parameters?.map(({ name }) => name) ?? [];
      return names.includes('pageSize') && names.includes('pageToken') ? [] : [get.operationId];
    });
    // The catalogue is a map by name; an operation keeps 1,000 lines at the most, and a config has 500 objects.
    expect(unpaged.toSorted()).toEqual(['listOperationLogs', 'listProviders', 'listReads']);
  });

  it('a token is of one list with its filters, and of no other', async () => {
    const tokenOf = async (path: string): Promise<string> =>
      (await read<Page>(`${path}${path.includes('?') ? '&' : '?'}pageSize=1`)).pagination.nextPageToken ?? '';
    const links = await tokenOf(`${base}/connect-links`);
    const all = await tokenOf(`${base}/connections`);
    const statusOf = async (path: string, token: string): Promise<number> =>
      (await platform.call('GET', `${path}${path.includes('?') ? '&' : '?'}pageToken=${token}`)).status;
    for (const path of [
      'connections',
      'installations',
      'integrations/hubspot-crm/installations',
      'events',
      'audit-log',
      'operations',
      'destinations',
    ])
      expect([path, await statusOf(`${base}/${path}`, links)]).toEqual([path, 400]);
    expect(await statusOf(`${base}/connections?groupRef=a`, all)).toBe(400);
    expect(await statusOf(`${base}/connections`, all)).toBe(200);
    expect(await statusOf(`${base}/connections?pageSize=3`, all)).toBe(200);
    expect(await statusOf(`/projects/${platform.projectId}/connections`, all)).toBe(200);
    expect(await statusOf(`${base}/connections`, all.slice(0, -1))).toBe(400);
  });

  it('a token is of the lists of one project', async () => {
    const other = await platform.call<{ name: string; apiKey: { key: string } }>('POST', '/projects', {
      name: 'other',
    });
    expect([other.status, other.text]).toEqual([201, other.text]);
    const { apiKey, name } = other.body;
    for (const list of ['connections', 'installations', 'events', 'audit-log', 'provider-apps']) {
      const { nextPageToken: token } = (await read<Page>(`${base}/${list}?pageSize=1`)).pagination;
      expect([list, token]).toEqual([list, expect.any(String)]);
      await read(`${base}/${list}?pageToken=${token}`);
      const path = `/projects/${name}/${list}?pageToken=${token}`;
      const answer = await platform.call('GET', path, undefined, { key: apiKey.key });
      expect([list, answer.status, answer.body]).toMatchObject([
        list,
        400,
        { issues: [{ in: 'query', name: 'pageToken', detail: 'is not a token of this list' }] },
      ]);
    }
  });
});
