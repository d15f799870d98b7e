import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { control, createHarness, type Harness } from './harness.fixture.ts';
import type { Event, EventPage } from '../events/schema.ts';
import { eventRoutes } from '../events/routes.ts';
import { eventPartitions } from '../events/index.ts';
import { keepPartitions } from '../kit/db/partitions.ts';

describe('connections/events', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let harness: Harness;

  beforeAll(async () => {
    hubspot = await startHubspot({ records: 1 });
    harness = await createHarness({ hubspot: hubspot.url }, { routes: [eventRoutes] });
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 's',
      scopes: ['oauth'],
    });
  });
  afterAll(async () => {
    await harness?.close();
    await hubspot?.close();
  });

  async function connect(groupRef: string): Promise<string> {
    const pair = await control(hubspot.url, 'tokens', { action: 'issue', account: '4242' });
    const { id } = await harness.connections.generate(harness.projectId, {
      provider: 'hubspot',
      groupRef,
      consumerRef: 'ada',
      consumerName: 'Ada L.',
      oauth2AuthorizationCode: {
        accessToken: { token: pair['accessToken'] as string },
        refreshToken: { token: pair['refreshToken'] as string },
      },
    });
    return id;
  }
  async function page(query = ''): Promise<EventPage> {
    const answer = await harness.call('GET', `/v1/projects/default/events${query}`);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json as unknown as EventPage;
  }
  const events = async (query = ''): Promise<Event[]> => (await page(query)).results;

  it('tells the life of a connection, newest first, by names and ids', async () => {
    const id = await connect('acme');
    await harness.connections.refresh(harness.projectId, id, 'force');
    await connect('acme');
    await harness.connections.update(harness.reach, id, {
      updateMask: ['providerMetadata'],
      connection: { providerMetadata: { note: { value: 'x', source: 'input' } } },
    });
    await harness.connections.delete(harness.reach, id);
    const found = await events(`?connectionId=${id}`);
    expect(found.map(({ type }) => type)).toEqual([
      'connection.deleted',
      'connection.updated',
      'connection.updated',
      'connection.refreshed',
      'connection.created',
    ]);
    for (const { data } of found) {
      expect(data).toEqual({
        projectId: harness.projectId,
        connectionId: id,
        provider: 'hubspot',
        groupRef: 'acme',
        consumerRef: 'ada',
        consumerName: 'Ada L.',
      });
    }
  });

  it('records one error for a death, however many callers find it, and keeps the connection', async () => {
    const id = await connect('dying');
    const other = harness.secondNode();
    await control(hubspot.url, 'tokens', { action: 'revoke' });
    const nodes = [harness.connections, other];
    const calls = Array.from({ length: 10 }, (_, at) =>
      nodes[at % 2]!.refresh(harness.projectId, id, 'force'),
    );
    const ended = await Promise.allSettled(calls);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await other.markBadCredentials(harness.projectId, id, 1, 'said again');
    const { status, statusDetail } = await harness.connections.get(harness.reach, id);
    expect(status).toBe('bad_credentials');
    const found = await events(`?connectionId=${id}&type=connection.error`);
    expect(found).toHaveLength(1);
    expect(found[0]!.data).toMatchObject({ connectionId: id, errors: [statusDetail] });
  });

  it('records a second death after a new authorization', async () => {
    const id = await connect('twice');
    await harness.connections.markBadCredentials(harness.projectId, id, 1, 'first');
    expect(await connect('twice')).toBe(id);
    await harness.connections.markBadCredentials(harness.projectId, id, 2, 'second');
    const found = await events(`?connectionId=${id}&type=connection.error`);
    expect(found.map(({ data }) => data['errors'])).toEqual([['second'], ['first']]);
  });

  it('gives pages, and refuses a token of another list', async () => {
    const all = await events();
    const first = await page('?pageSize=2');
    const { done, nextPageToken } = first.pagination;
    expect(done).toBe(false);
    const rest = await events(`?pageToken=${nextPageToken}`);
    expect([...first.results, ...rest]).toEqual(all);
    expect((await harness.call('GET', '/v1/projects/default/events?pageToken=zzz')).status).toBe(400);
    expect((await harness.call('GET', '/v1/projects/default/events?type=nothing')).status).toBe(400);
    expect(await events('?connectionId=not-an-id')).toEqual([]);
  });

  it("does not show a group's key what happened to another group", async () => {
    const asked = { label: 'of acme', scopes: ['read' as const], groupRef: 'acme' };
    const { key } = await harness.projects.apiKeys.create(harness.projectId, asked);
    const seen = await harness.call('GET', '/v1/projects/default/events', undefined, key);
    const { results } = seen.json as unknown as EventPage;
    expect(new Set(results.map(({ data }) => data['groupRef']))).toEqual(new Set(['acme']));
  });

  it('forgets what is more than 30 days ago', async () => {
    const { database } = harness.ground;
    const before = await events();
    await keepPartitions(database, eventPartitions, 30);
    expect(await events()).toEqual(before);
    await harness.shiftClock('31 days');
    await keepPartitions(database, eventPartitions, 30);
    expect(await events()).toEqual([]);
    await harness.shiftClock('-31 days');
    await keepPartitions(database, eventPartitions, 30);
  });
});
