import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { record, wholeProject } from '../events/index.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import { keepMessages } from './index.ts';
import { deleteDestination, lockDestinationToDelete } from './store/destinations.ts';

describe('deliveries, of a destination that is deleted', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let to: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    await test.drop();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    world = openDeliveryWorld(test, { timeoutMs: 5_000 });
    const made = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } } as const;
    to = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterEach(() => world.close());

  const rows = (text: string): Promise<Record<string, unknown>[]> => world.rows(text, [world.projectId]);
  const remove = (cancelPending = false): Promise<void> =>
    world.deliveries.destinations.delete(world.projectId, 'inbox', { cancelPending });
  const waiting = (deliveries: number) => ({
    code: 'deliveries-waiting',
    message: expect.stringContaining(`${deliveries} deliveries wait`) as string,
  });
  const blocked = () =>
    test.database.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  const works = () => rows('SELECT FROM work WHERE project_id = $1');
  /** The answers to what is sent, once so many were asked for. */
  const hanging = async (count: number): Promise<() => void> => {
    const left: (() => void)[] = [];
    receiver.answer = (response) => void left.push(() => response.writeHead(500).end());
    const offer = await world.deliveries.handOver.offer(await world.messages(to, count));
    offer.kept(await keepMessages(test.database, offer.messages));
    await eventually(
      () => left.length,
      (asked) => asked === count,
    );
    return () => left.forEach((answer) => answer());
  };

  it('what a node sends from memory is counted, and nothing is changed', async () => {
    const answer = await hanging(8);
    await expect(remove()).rejects.toMatchObject(waiting(8));
    answer();
    await eventually(
      () => rows('SELECT FROM work WHERE project_id = $1 AND state = 1'),
      (left) => left.length === 0,
    );
    expect(await rows('SELECT status FROM delivery WHERE project_id = $1')).toEqual(
      Array.from({ length: 8 }, () => ({ status: 'pending' })),
    );
    await expect(remove()).rejects.toMatchObject(waiting(8));
    await remove(true);
    await world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(
      await rows(
        `SELECT details->>'canceledDeliveries' AS n FROM audit_log WHERE project_id = $1 AND action = 'destination.deleted'`,
      ),
    ).toEqual([{ n: '8' }]);
  });

  it('what is sent to another one is not counted', async () => {
    const answer = await hanging(2);
    const other = { name: 'other', type: 'webhook', metadata: { url: receiver.url } } as const;
    await world.deliveries.destinations.create(world.projectId, other);
    await world.deliveries.destinations.delete(world.projectId, 'other', { cancelPending: false });
    expect(await rows('SELECT name FROM destination WHERE project_id = $1')).toEqual([{ name: 'inbox' }]);
    answer();
  });

  it('what tells of something meanwhile is counted', async () => {
    await world.deliveries.notifications.set(world.projectId, [
      { eventTypes: ['connection.created'], destination: 'inbox' },
    ]);
    let removed: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await record(tx, {
        projectId: world.projectId,
        told: { type: 'connection.created', data: '{}' },
      });
      removed = remove().catch((error: unknown) => error);
      expect(await eventually(blocked, (some) => some.length > 0)).toHaveLength(1);
    });
    expect(await removed).toMatchObject(waiting(1));
  });

  it('what is asked for again meanwhile finds no destination, and stays as it is', async () => {
    const worker = await world.work();
    receiver.answer = (response) => response.writeHead(204).end();
    const [id = ''] = await world.queue(to, 1);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    await worker.stop(1_000);
    const { projectId } = world;
    let retried: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await lockDestinationToDelete(tx, { projectId, id: to });
      expect(await deleteDestination(tx, projectId, to)).toBe(0);
      retried = world.deliveries.log.retry(wholeProject(projectId), id).catch((error: unknown) => error);
      await Promise.race([retried, eventually(blocked, (some) => some.length > 0)]);
    });
    expect(await retried).toMatchObject({ code: 'not-found' });
    expect([await works(), await rows('SELECT status FROM delivery WHERE project_id = $1')]).toEqual([
      [],
      [{ status: 'delivered' }],
    ]);
  });
});
