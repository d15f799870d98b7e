import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { record } from '../events/index.ts';
import { newId } from '../kit/ids.ts';
import { pause } from '../lanes/index.ts';
import { openNode } from '../lanes/store/lanes.ts';
import { intake, startOne, writeOne } from '../operations/harness.fixture.ts';
import { createOperations, nothingNow, type Operations, type TellOffer } from '../operations/index.ts';
import {
  eventually,
  good,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';

const leaseMs = 1_000;

describe('deliveries/hand-over, of what is told', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let operations: Operations;
  let receiver: Receiver;
  let to: string;
  let installationId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await test?.drop();
  });
  beforeEach(async () => {
    receiver.answer = good;
    receiver.received.length = 0;
    world = openDeliveryWorld(test, { leaseMs });
    const { projectId, deliveries, ground } = world;
    const made = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } } as const;
    to = (await deliveries.destinations.create(projectId, made)).id;
    const [integrationId, groupRef] = [newId(), 'acme'];
    installationId = newId();
    await world.rows(
      `INSERT INTO integration (project_id, id, name, provider, latest_revision_id) VALUES ($1, $2, 'crm', 'hubspot', $3)`,
      [projectId, integrationId, newId()],
    );
    await world.rows(
      `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, 'api')`,
      [projectId, installationId, integrationId, groupRef, newId(), newId()],
    );
    const route = { eventTypes: ['write.async.done' as const], destination: 'inbox' };
    await deliveries.notifications.set(projectId, [route]);
    operations = createOperations(ground);
    operations.tellBy({ offer: deliveries.handOver.offerTold });
  });
  afterEach(async () => {
    await operations.close();
    await world.close();
  });

  const rows = (text: string): Promise<Record<string, unknown>[]> => world.rows(text, [world.projectId]);
  const works = () => rows('SELECT lane_id, state, attempt FROM work WHERE project_id = $1 ORDER BY seq');
  const write = (): Promise<string> =>
    writeOne(operations, test.database, intake({ projectId: world.projectId, installationId }), {
      eventId: newId(),
    });
  const times = (id: unknown): number => receiver.ids().filter((one) => one === id).length;
  const messageIds = async (): Promise<unknown[]> =>
    (await rows('SELECT id FROM message WHERE project_id = $1 ORDER BY id')).map(({ id }) => id);
  const home = (attempt = 0) => ({ lane_id: to, state: 0, attempt });
  /** What the offers are before the statement, and whether its answer comes. */
  const offering = (change: (offer: TellOffer) => TellOffer | Promise<TellOffer>): void =>
    operations.tellBy({
      offer: async (projectIds) => change(await world.deliveries.handOver.offerTold(projectIds)),
    });

  it('sends at once what tells of an end, byte for byte as it is kept, without a worker', async () => {
    const operationId = await write();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    const [message] = await rows(
      `SELECT id, convert_from(body, 'UTF8') AS body FROM message WHERE project_id = $1`,
    );
    expect(receiver.received.map(({ body }) => body)).toEqual([message?.['body']]);
    expect(receiver.ids()).toEqual([message?.['id']]);
    expect(receiver.received[0]?.headers['webhook-event-type']).toBe('write.async.done');
    expect(JSON.parse(String(message?.['body']))).toMatchObject({
      notificationType: 'write.async.done',
      data: { operationId, success: true, successfulRecordIds: ['7'], groupRef: 'acme' },
    });
    expect(await rows('SELECT status, attempts FROM delivery WHERE project_id = $1')).toEqual([
      { status: 'delivered', attempts: 1 },
    ]);
    expect(await rows('SELECT lane_id FROM wake WHERE project_id = $1')).toEqual([]);
  });

  it('leaves to the lane what goes beyond its room for one destination, and wakes it', async () => {
    offering((offer) => ({ ...offer, each: 1, onTheirWay: new Map([[to, 1]]) }));
    await write();
    expect(await works()).toEqual([home()]);
    expect(await rows('SELECT lane_id FROM wake WHERE project_id = $1')).toEqual([{ lane_id: to }]);
    offering((offer) => ({ ...offer, room: 0 }));
    await write();
    expect(await works()).toEqual([home(), home()]);
    await world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect((await messageIds()).map(times)).toEqual([1, 1]);
  });

  it('what fails goes back to the lane of its destination, and the next one is not sent past it', async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    await write();
    expect(await eventually(works, ([work]) => work?.['state'] === 0)).toEqual([home(1)]);
    receiver.answer = good;
    await write();
    expect(await works()).toEqual([home(1), home()]);
    const [first] = await messageIds();
    expect(times(first)).toBe(1);
    await world.work();
    await world.hurry();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(times(first)).toBe(2);
  });

  it.each([
    ['a destination that rests', () => pause(test.database, world.projectId, to, true)],
    [
      'a destination that was disabled',
      () => rows(`UPDATE destination SET status = 'disabled' WHERE project_id = $1`),
    ],
    [
      'a kind that this node does not know',
      () => rows(`UPDATE destination SET type = 'newer' WHERE project_id = $1`),
    ],
    [
      'a lane that this node has lost',
      () => rows(`UPDATE lane SET lease = gen_random_uuid() WHERE project_id = $1 AND kind = 'node'`),
    ],
  ])('starts nothing for %s', async (_what, happens) => {
    offering(async (offer) => {
      await happens();
      return offer;
    });
    await write();
    expect(await works()).toEqual([home()]);
    expect(receiver.received).toEqual([]);
  });

  it('what was kept, and whose answer was lost, goes to the lane of its destination', async () => {
    offering((offer) => ({ ...offer, kept: () => offer.kept([]) }));
    await write();
    expect(await eventually(works, ([work]) => work?.['state'] === 0)).toEqual([home()]);
    await world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect((await messageIds()).map(times)).toEqual([1]);
  });

  it('what is kept and not answered yet stays where it is', async () => {
    const answer = Promise.withResolvers<void>();
    offering((offer) => ({
      ...offer,
      kept: (told) => void answer.promise.then(() => offer.kept(told)),
    }));
    await write();
    // Beyond a renewal of the lane, with its look for what nobody knows.
    await new Promise((resolve) => setTimeout(resolve, leaseMs));
    expect(await works()).toEqual([{ lane_id: expect.not.stringMatching(to), state: 1, attempt: 1 }]);
    answer.resolve();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect((await messageIds()).map(times)).toEqual([1]);
  });

  it('what a node that is gone had started is sent by another', async () => {
    const node = { projectId: world.projectId, id: newId(), lease: randomUUID() };
    await openNode(test.database, node, 100);
    offering((offer) => {
      offer.kept([]);
      return { ...offer, lanes: [node], kept: () => undefined };
    });
    await write();
    expect(await works()).toEqual([{ lane_id: node.id, state: 1, attempt: 1 }]);
    await world.work({ leaseMs });
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect((await messageIds()).map(times)).toEqual([1]);
  });

  it('makes a message once, whether the statement or the trigger of the events does', async () => {
    operations.tellBy({ offer: async () => nothingNow });
    await write();
    const told = { type: 'write.async.done', groupRef: 'acme', data: '{}' } as const;
    const { projectId } = world;
    // In the transaction of an end the trigger tells of what else happens there.
    const given = intake({ projectId, installationId });
    const end = await startOne(operations, test.database, given, { eventId: newId() });
    await test.database.transaction(async (tx) => {
      await operations.ends.record(tx, [end]);
      await record(tx, { projectId, told });
    });
    await record(test.database, { projectId, told });
    expect(await messageIds()).toHaveLength(4);
    expect(await works()).toEqual([home(), home(), home(), home()]);
  });
});
