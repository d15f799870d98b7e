import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../src/deliveries/harness.fixture.ts';
import { record } from '../../src/events/index.ts';
import { newId } from '../../src/kit/ids.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

interface Made {
  id: string;
  name: string;
  projectId: string;
  createTime: string;
  eventType: string;
  topicId: string;
  destinationId: string;
}
interface Problem {
  code: string;
  issues?: { name: string }[];
}
type Routes = { routes: { eventTypes: string[]; destination: string }[]; byTopics: Routes['routes'] };

const base = '/projects/default';

describe('test/journeys/notification-routes', () => {
  let test: TestDatabase;
  let platform: Platform;
  const destinations: Record<string, string> = {};
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    for (const name of ['first', 'second', 'third']) {
      const metadata = { url: `https://${name}.example.com/` };
      const { body } = await call<Made>('POST', '/destinations', { name, type: 'webhook', metadata });
      destinations[name] = body.id;
    }
    const metadata = { url: 'postgres://svc@db.example.com/records', schema: 'svc' };
    const secrets = { password: 'secret' };
    const { body } = await call<Made>('POST', '/destinations', {
      name: 'rows',
      type: 'postgres',
      metadata,
      secrets,
    });
    destinations['rows'] = body.id;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const call = <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> =>
    platform.call<Body>(method, base + path, body);
  const messages = async (): Promise<Record<string, unknown>[]> =>
    test.database.raw('SELECT event_type, destination_id FROM message ORDER BY seq');
  const happen = (): Promise<void> =>
    record(test.database, {
      projectId: platform.projectId,
      told: { type: 'connection.error', groupRef: 'acme', data: '{"errors":[1e400,1.50]}' },
    });

  it('topics are made, renamed and listed; a name stands once; what is gone is not found', async () => {
    const made = await call<Made>('POST', '/topics', { name: 'Alerts-1' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Alerts-1',
        projectId: platform.projectId,
        createTime: expect.any(String),
        updateTime: expect.any(String),
      },
    ]);
    const again = await call<Problem>('POST', '/topics', { name: 'alerts-1' });
    expect([again.status, again.body.code]).toEqual([409, 'already-exists']);
    for (const name of ['', 'a b', 'ü', 'x'.repeat(65)]) {
      const refused = await call<Problem>('POST', '/topics', { name });
      expect([name, refused.status, refused.body.issues?.[0]?.name]).toEqual([name, 400, 'name']);
    }
    const renamed = await call<Made>('PATCH', `/topics/${made.body.id}`, { name: 'alerts' });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'alerts']);
    expect((await call<Made[]>('GET', '/topics')).body.map(({ name }) => name)).toEqual(['alerts']);
    expect((await call('DELETE', `/topics/${made.body.id}`)).status).toBe(204);
    for (const id of [made.body.id, newId(), 'nothing']) {
      expect((await call('PATCH', `/topics/${id}`, { name: 'x' })).status).toBe(404);
      expect((await call('DELETE', `/topics/${id}`)).status).toBe(404);
    }
  });

  it('the four calls route an event to a destination; each route stands once, is filtered and goes', async () => {
    const { body: topic } = await call<Made>('POST', '/topics', { name: 'four' });
    const eventRoute = { eventType: 'connection.error', topicId: topic.id };
    const made = await call<Made>('POST', '/notification-event-topic-routes', eventRoute);
    expect([made.status, made.body]).toMatchObject([201, { ...eventRoute, projectId: platform.projectId }]);
    const again = await call<Made>('POST', '/notification-event-topic-routes', eventRoute);
    expect([again.status, again.body]).toEqual([201, made.body]);
    const unknown = await call<Problem>('POST', '/notification-event-topic-routes', {
      ...eventRoute,
      eventType: 'connection.exploded',
    });
    expect([unknown.status, unknown.body.issues?.[0]?.name]).toEqual([400, 'eventType']);
    const noTopic = { ...eventRoute, topicId: newId() };
    expect((await call('POST', '/notification-event-topic-routes', noTopic)).status).toBe(404);

    const toFirst = { topicId: topic.id, destinationId: destinations['first'] };
    const leads = await call<Made>('POST', '/topic-destination-routes', toFirst);
    expect([leads.status, leads.body]).toMatchObject([201, toFirst]);
    const leadsAgain = await call<Made>('POST', '/topic-destination-routes', toFirst);
    expect([leadsAgain.status, leadsAgain.body]).toEqual([201, leads.body]);
    for (const wrong of [{ topicId: newId() }, { destinationId: newId() }, { destinationId: 'first' }])
      expect((await call('POST', '/topic-destination-routes', { ...toFirst, ...wrong })).status).toBe(404);
    const rows = { topicId: topic.id, destinationId: destinations['rows'] };
    const recordsOnly = await call<Problem>('POST', '/topic-destination-routes', rows);
    expect([recordsOnly.status, recordsOnly.body.code]).toEqual([422, 'destination-takes-records-only']);

    const found = async (path: string): Promise<string[]> =>
      (await call<Made[]>('GET', path)).body.map(({ id }) => id);
    const events = '/notification-event-topic-routes';
    const topics = '/topic-destination-routes';
    expect(await found(`${events}?topicId=${topic.id}&eventType=connection.error`)).toEqual([made.body.id]);
    expect(await found(`${events}?eventType=connection.created`)).toEqual([]);
    expect(await found(`${events}?topicId=nothing`)).toEqual([]);
    expect(await found(`${topics}?destinationId=${destinations['first']}`)).toEqual([leads.body.id]);
    expect(await found(`${topics}?destinationId=${destinations['second']}`)).toEqual([]);

    const before = (await messages()).length;
    await happen();
    expect((await messages()).slice(before)).toEqual([
      { event_type: 'connection.error', destination_id: destinations['first'] },
    ]);
    expect((await call('DELETE', `${topics}/${leads.body.id}`)).status).toBe(204);
    expect((await call('DELETE', `${topics}/${leads.body.id}`)).status).toBe(404);
    await happen();
    expect(await messages()).toHaveLength(before + 1);
    await call('POST', topics, toFirst);
    expect((await call('DELETE', `/topics/${topic.id}`)).status).toBe(204);
    expect(await found(events)).toEqual([]);
    await happen();
    expect(await messages()).toHaveLength(before + 1);
  });

  it('one call sets them all; the same again changes nothing, and topics stand beside it', async () => {
    const routes = [
      { eventTypes: ['write.async.done', 'connection.error'], destination: 'FIRST' },
      { eventTypes: ['connection.error'], destination: destinations['second'] },
    ];
    const shown = {
      routes: [
        { eventTypes: ['connection.error', 'write.async.done'], destination: 'first' },
        { eventTypes: ['connection.error'], destination: 'second' },
      ],
      byTopics: [],
    };
    for (let n = 0; n < 2; n += 1) {
      const set = await call<Routes>('PUT', '/notifications', { routes });
      expect([set.status, set.body]).toEqual([200, shown]);
    }
    const { body: topic } = await call<Made>('POST', '/topics', { name: 'beside' });
    await call('POST', '/notification-event-topic-routes', {
      eventType: 'connection.error',
      topicId: topic.id,
    });
    for (const name of ['first', 'third'])
      await call('POST', '/topic-destination-routes', {
        topicId: topic.id,
        destinationId: destinations[name],
      });
    const both = (await call<Routes>('GET', '/notifications')).body;
    expect(both.routes).toEqual(shown.routes);
    expect(both.byTopics).toEqual([
      { eventTypes: ['connection.error'], destination: 'first' },
      { eventTypes: ['connection.error'], destination: 'third' },
    ]);
    const before = (await messages()).length;
    await happen();
    const told = (await messages()).slice(before).map((one) => one['destination_id']);
    expect(told).toHaveLength(3);
    expect(new Set(told)).toEqual(
      new Set([destinations['first'], destinations['second'], destinations['third']]),
    );

    for (const [wrong, status] of [
      [{ eventTypes: ['connection.error'], destination: 'nowhere' }, 404],
      [{ eventTypes: ['connection.error'], destination: newId() }, 404],
      [{ eventTypes: ['connection.error'], destination: 'rows' }, 422],
      [{ eventTypes: [], destination: 'first' }, 400],
      [{ eventTypes: ['nothing'], destination: 'first' }, 400],
    ] as const) {
      expect((await call('PUT', '/notifications', { routes: [wrong] })).status).toBe(status);
    }
    expect((await call<Routes>('GET', '/notifications')).body.routes).toEqual(shown.routes);
    // What a destination takes along when it goes: its routes, and no other.
    expect((await call('DELETE', '/destinations/first?cancelPending=true')).status).toBe(204);
    expect((await call<Routes>('GET', '/notifications')).body).toEqual({
      routes: [shown.routes[1]],
      byTopics: [{ eventTypes: ['connection.error'], destination: 'third' }],
    });
    expect((await call<Routes>('PUT', '/notifications', { routes: [] })).body.routes).toEqual([]);
  });

  it('an event that is rolled back is told nobody, and what is told is the text that was recorded', async () => {
    await call('PUT', '/notifications', {
      routes: [{ eventTypes: ['connection.deleted'], destination: 'second' }],
    });
    const before = (await messages()).length;
    const told = { type: 'connection.deleted', groupRef: 'acme', data: '{"errors":[1e400,1.50]}' } as const;
    const happening = { projectId: platform.projectId, told };
    const undone = test.database.transaction(async (tx) => {
      await record(tx, happening);
      const kept = { name: 'test_messages', text: 'SELECT FROM message' };
      expect(await tx.rows(kept)).toHaveLength(before + 1);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await messages()).toHaveLength(before);
    await record(test.database, happening);
    const [row] = await test.database.raw(
      `SELECT convert_from(body, 'UTF8') AS body, bytes, group_ref FROM message ORDER BY seq DESC LIMIT 1`,
    );
    const body = '{"notificationType":"connection.deleted","data":{"errors":[1e400,1.50]}}';
    expect(row).toEqual({ body, bytes: body.length, group_ref: 'acme' });
  });

  it('what a replay or an old route brings to a place for records fails for good, and says why', async () => {
    await test.database.raw(`INSERT INTO notification_route VALUES ($1, 'installation.deleted', $2)`, [
      platform.projectId,
      destinations['rows'],
    ]);
    await record(test.database, {
      projectId: platform.projectId,
      told: { type: 'installation.deleted', groupRef: 'acme', data: '{}' },
    });
    type Listed = { results: { status: string; notificationType: string; error: string }[] };
    const found = await eventually(
      async () => (await call<Listed>('GET', '/deliveries?destination=rows')).body.results,
      ([one]) => one?.status === 'failed',
    );
    expect(found).toMatchObject([
      {
        status: 'failed',
        notificationType: 'installation.deleted',
        error: expect.stringContaining('takes records only'),
      },
    ]);
  });
});
