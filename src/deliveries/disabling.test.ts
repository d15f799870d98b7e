import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import {
  eventually,
  good,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import type { DestinationRow } from './store/destinations.ts';

/** When a destination that takes nothing is disabled. */
describe('deliveries/disabling', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let destination: DestinationRow;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    receiver = await startReceiver();
    destination = await world.deliveries.destinations.create(world.projectId, {
      name: 'mine',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    receiver.answer = (response) => response.writeHead(500).end();
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
  });

  const deliveries = () =>
    world.rows('SELECT * FROM delivery WHERE project_id = $1 ORDER BY message_id', [world.projectId]);
  const stored = async () =>
    (await world.rows('SELECT * FROM destination WHERE id = $1', [destination.id]))[0]!;

  it('an answer of 410 to what was sent before it was changed or enabled does not disable it', async () => {
    let asked: (() => void) | undefined;
    receiver.answer = (response) => (asked = () => response.writeHead(410).end());
    await world.work();
    await world.queue(destination.id, 1);
    await eventually(() => asked !== undefined, Boolean);
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    receiver.answer = good;
    asked?.();
    await eventually(deliveries, ([one]) => one?.['http_status'] === 410);
    // It is disabled after the outcome was stored, if at all.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stored()).toMatchObject({ status: 'active' });
  });

  it('a failure after five days without a success or a change disables it; one after four does not', async () => {
    await world.work();
    const failFor = async (days: number, changed = days) => {
      await world.rows(
        `UPDATE destination SET failing_since = svc_now() - $2 * interval '1 day',
          updated_at = svc_now() - $3 * interval '1 day' WHERE id = $1`,
        [destination.id, days, changed],
      );
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      const before = receiver.received.length;
      await world.queue(destination.id, 1);
      await eventually(
        () => receiver.received.length,
        (count) => count > before,
      );
    };
    await failFor(4);
    expect((await stored())['status']).toBe('active');
    // Somebody enabled or changed it meanwhile.
    await failFor(9, 4);
    expect((await stored())['status']).toBe('active');
    await failFor(5.1);
    expect(await eventually(stored, ({ status }) => status === 'disabled')).toMatchObject({
      reason: expect.stringContaining('five days') as string,
    });
  });

  it('what is sent now by hand begins the five days anew, and a test that is taken ends that it fails', async () => {
    await world.work();
    await world.rows(
      `UPDATE destination SET failing_since = svc_now() - interval '6 days',
        updated_at = svc_now() - interval '6 days' WHERE id = $1`,
      [destination.id],
    );
    await world.queue(destination.id, 1);
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    await eventually(deliveries, (rows) => rows.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await stored()).toMatchObject({ status: 'active', failing_since: expect.any(Date) as Date });
    expect(await world.deliveries.test(world.projectId, 'mine')).toMatchObject({ success: false });
    expect((await stored())['failing_since']).not.toBeNull();
    receiver.answer = good;
    expect(await world.deliveries.test(world.projectId, 'mine')).toMatchObject({ success: true });
    expect((await stored())['failing_since']).toBeNull();
  });

  it('a node that has not heard yet that it was enabled does not disable it again', async () => {
    await world.rows(
      `UPDATE destination SET failing_since = svc_now() - interval '6 days',
        updated_at = svc_now() - interval '6 days' WHERE id = $1`,
      [destination.id],
    );
    const other = openDeliveryWorld(test, { projectId: world.projectId });
    expect(await other.deliveries.findDestination(world.projectId, destination.id)).toMatchObject({
      status: 'active',
    });
    await other.work();
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    await world.queue(destination.id, 1);
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    other.deliveries.announce(destination.id);
    await eventually(deliveries, (rows) => rows.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(receiver.received).toHaveLength(1);
    expect(await stored()).toMatchObject({ status: 'active' });
    await other.close();
  });

  it('enabled, it is sent a part of very much that waits, and then the rest', async () => {
    const { destinations } = world.deliveries;
    await destinations.disable(world.projectId, 'mine');
    receiver.answer = good;
    await world.queue(destination.id, 2_100);
    await world.rows("UPDATE work SET due_at = svc_now() + interval '1 hour' WHERE project_id = $1", [
      world.projectId,
    ]);
    expect(await destinations.enable(world.projectId, 'mine')).toMatchObject({ status: 'active' });
    const waiting = 'SELECT count(*)::int AS n FROM work WHERE project_id = $1 AND due_at > svc_now()';
    expect(await world.rows(waiting, [world.projectId])).toEqual([{ n: 100 }]);
    await world.work();
    await expect.poll(() => receiver.received.length, { timeout: 50_000, interval: 100 }).toBe(2_100);
  }, 60_000);
});
