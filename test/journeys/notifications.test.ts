import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, good } from '../../src/deliveries/harness.fixture.ts';
import { eventTypes } from '../../src/events/index.ts';
import { connect, deploy, fault, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { openNotified, type Notified } from '../notified.ts';
import { startPlatform, type Platform } from '../platform.ts';

const base = '/projects/default';

describe('test/journeys/notifications', () => {
  let test: TestDatabase;
  let platform: Platform;
  let notified: Notified;
  let acme: Customer;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_LEASE_MS: '2000' } });
    await deploy(platform);
    notified = await openNotified(platform, 'told', eventTypes);
    acme = await install(platform, 'hubspot-crm', 'acme');
  }, 60_000);
  afterAll(async () => {
    await notified?.receiver.close();
    await platform?.stop();
    await test?.drop();
  });

  it('tells of the life of connections and installations, signed, with the words of the events', async () => {
    const customer = await install(platform, 'hubspot-no-proxy', 'globex');
    const path = `${base}/integrations/hubspot-no-proxy/installations/${customer.installationId}`;
    const isIts = (data: Record<string, unknown>): boolean => data['groupRef'] === 'globex';
    const created = await notified.until('installation.created', isIts);
    expect(created.data).toMatchObject({
      installationId: customer.installationId,
      integrationName: 'hubspot-no-proxy',
      consumerRef: 'globex-user',
      config: { provider: 'hubspot' },
    });
    expect((await notified.until('connection.created', isIts)).data).toMatchObject({
      connectionId: customer.connectionId,
      provider: 'hubspot',
    });
    await platform.call('PATCH', path, {
      updateMask: ['config.content.write.objects.contacts'],
      installation: {
        config: { content: { write: { objects: { contacts: { objectName: 'contacts' } } } } },
      },
    });
    expect((await notified.until('installation.updated', isIts)).data).toMatchObject({
      config: { write: { objects: { contacts: {} } } },
      lastConfig: { provider: 'hubspot' },
    });
    await platform.call('GET', `${base}/connections/${customer.connectionId}?refresh=force`);
    await notified.until('connection.refreshed', isIts);
    await platform.call('PATCH', `${base}/connections/${customer.connectionId}`, {
      updateMask: ['providerMetadata'],
      connection: { providerMetadata: { region: { value: 'eu', source: 'input' } } },
    });
    await notified.until('connection.updated', isIts);
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    await platform.call('GET', `${base}/connections/${customer.connectionId}?refresh=force`);
    const { data } = await notified.until('connection.error', isIts);
    expect(data['errors']).toEqual(data['error']);
    expect((await platform.call('DELETE', path)).status).toBe(204);
    await notified.until('installation.deleted', isIts);
    await platform.call('DELETE', `${base}/connections/${customer.connectionId}`);
    await notified.until('connection.deleted', isIts);
    expect(await connect(platform, 'hubspot', 'acme')).toBe(acme.connectionId);
  }, 60_000);

  it('tells of each asynchronous write when it has ended, record by record', async () => {
    const single = await acme.write('contacts', {
      type: 'create',
      mode: 'asynchronous',
      record: { email: 'single@example.com' },
    });
    const isOf = (id: string) => (data: Record<string, unknown>) => data['operationId'] === id;
    const { data } = await notified.until('write.async.done', isOf(single.body.operationId));
    const [recordId] = data['successfulRecordIds'] as string[];
    expect(data).toMatchObject({
      installationId: acme.installationId,
      connectionId: acme.connectionId,
      groupRef: 'acme',
      objectName: 'contacts',
      success: true,
      errors: [],
      results: [{ index: 0, success: true, recordId }],
    });
    expect(recordId).toMatch(/^\d+$/);

    const batch = await acme.write('contacts', {
      type: 'update',
      mode: 'asynchronous',
      batch: [
        { record: { id: recordId, email: 'again@example.com' }, reference: 'good' },
        { record: { id: '404404404', email: 'nobody@example.com' }, reference: 'bad' },
      ],
    });
    const partly = await notified.until('write.async.done', isOf(batch.body.operationId));
    expect(partly.data).toMatchObject({
      success: false,
      successfulRecordIds: [recordId],
      errors: [expect.stringMatching(/^notFound: /)],
      results: [
        { index: 0, reference: 'good', success: true, recordId },
        {
          index: 1,
          reference: 'bad',
          success: false,
          errors: [{ category: 'notFound', retryable: false, message: expect.any(String) }],
        },
      ],
    });
    // What the operation says is what was told.
    const operation = await acme.operation(batch.body.operationId);
    expect(operation.metadata!.successfulRecordIds).toEqual(partly.data['successfulRecordIds']);

    await acme.write('contacts', { type: 'create', record: { email: 'sync@example.com' } });
    expect(notified.told('write.async.done')).toHaveLength(2);
  }, 60_000);

  it('tells of an automatic batch once, with the records of all who joined it, and of what was tried again', async () => {
    await fault(platform.hubspot, {
      method: 'POST',
      path: '/contacts',
      fault: { kind: 'status', status: 503 },
      times: 1,
    });
    const joined = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        acme.write('contacts', {
          type: 'create',
          mode: 'asynchronous',
          autoBatchPolicy: { maxDelayMinutes: 1 },
          record: { email: `${at}@batch.example.com` },
        }),
      ),
    );
    const [operationId, ...others] = new Set(joined.map(({ body }) => body.operationId));
    expect(others).toEqual([]);
    const { data } = await notified.until('write.async.done', (one) => one['operationId'] === operationId);
    expect(data).toMatchObject({ success: true, errors: [] });
    expect(data['successfulRecordIds']).toHaveLength(100);
    expect(data['results']).toHaveLength(100);
  }, 60_000);

  it('tells once of a destination that is disabled', async () => {
    const gone = await openNotifiedBeside();
    gone.receiver.answer = (response) => response.writeHead(410).end();
    await acme.write('contacts', {
      type: 'create',
      mode: 'asynchronous',
      record: { email: 'gone@example.com' },
    });
    const { data } = await notified.until('destination.webhook.disabled');
    expect(data).toMatchObject({
      destinationId: gone.destinationId,
      destinationName: 'gone',
      url: gone.receiver.url,
      reason: 'The receiver answered 410 Gone.',
    });
    await gone.receiver.close();
  }, 60_000);

  /** A second endpoint, routed by topics. */
  async function openNotifiedBeside(): Promise<Notified> {
    const routes = await platform.call<{ routes: unknown }>('GET', `${base}/notifications`);
    const beside = await openNotified(platform, 'gone', ['write.async.done']);
    await platform.call('PUT', `${base}/notifications`, { routes: routes.body.routes });
    const topic = await platform.call<{ id: string }>('POST', `${base}/topics`, { name: 'writes' });
    await platform.call('POST', `${base}/notification-event-topic-routes`, {
      eventType: 'write.async.done',
      topicId: topic.body.id,
    });
    await platform.call('POST', `${base}/topic-destination-routes`, {
      topicId: topic.body.id,
      destinationId: beside.destinationId,
    });
    return beside;
  }

  it('a node that dies takes no notification along, and repeats carry the same id and bytes', async () => {
    const { receiver } = notified;
    const before = notified.told('write.async.done').length;
    const asked = receiver.received.length;
    receiver.answer = () => undefined;
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        acme.write('contacts', {
          type: 'create',
          mode: 'asynchronous',
          record: { email: `killed-${at}@example.com` },
        }),
      ),
    );
    await eventually(
      () => receiver.received.length,
      (count) => count > asked,
    );
    await platform.restart('SIGKILL');
    receiver.answer = good;
    for (const { body } of written)
      await notified.until('write.async.done', ({ operationId }) => operationId === body.operationId);
    const sameIds = (): string[][] => {
      const groups = Map.groupBy(receiver.received, ({ headers }) => String(headers['webhook-id']));
      return [...groups.values()].map((same) => same.map(({ body }) => body));
    };
    const arrived = await eventually(sameIds, (all) => all.some((bodies) => bodies.length > 1));
    expect(arrived.some((bodies) => bodies.length > 1)).toBe(true);
    for (const bodies of arrived) expect(new Set(bodies).size).toBe(1);
    expect(notified.told('write.async.done')).toHaveLength(before + 20);
  }, 90_000);

  it('shows them in the log of deliveries, and to the group that they concern', async () => {
    type Listed = { results: { notificationType?: string; groupRef?: string; objectName?: string }[] };
    const all = await platform.call<Listed>('GET', `${base}/deliveries?destination=told&pageSize=1000`);
    const types = new Set(all.body.results.map(({ notificationType }) => notificationType));
    expect(types).toContain('write.async.done');
    expect(types).toContain('destination.webhook.disabled');
    expect(all.body.results.every((one) => one.objectName === undefined)).toBe(true);
    const { body } = await platform.call<{ key: string }>('POST', `${base}/api-keys`, {
      label: 'of globex',
      scopes: ['read'],
      groupRef: 'globex',
    });
    const own = await platform.call<Listed>('GET', `${base}/deliveries?pageSize=1000`, undefined, {
      key: body.key,
    });
    expect(new Set(own.body.results.map(({ groupRef }) => groupRef))).toEqual(new Set(['globex']));
    const events = await platform.call<{ results: unknown[] }>(
      'GET',
      `${base}/events?type=write.async.done&pageSize=1000`,
    );
    expect(events.body.results.length).toBe(notified.told('write.async.done').length);
  }, 60_000);
});
