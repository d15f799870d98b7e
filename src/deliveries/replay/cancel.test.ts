import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { newId } from '../../kit/ids.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from '../harness.fixture.ts';
import { recordReplays } from './store.ts';

describe('deliveries/replay, canceled while a step is recorded', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let mine: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    await test.drop();
  });
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    const made = { name: 'mine', type: 'webhook', metadata: { url: receiver.url } } as const;
    mine = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterEach(() => world.close());

  const rows = (text: string): Promise<Record<string, unknown>[]> => world.rows(text, [world.projectId]);
  const waiting = () =>
    rows(`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND $1::uuid IS NOT NULL`);

  it('takes back what that step queued', async () => {
    const worker = await world.work();
    const messages = await world.queue(mine, 2);
    const works = () => rows(`SELECT seq, kind FROM work WHERE project_id = $1 ORDER BY seq`);
    await eventually(works, (left) => left.length === 0);
    await worker.stop(1_000);
    const { replayId = '' } = await world.deliveries.replays.start(world.projectId, {
      filter: { destination: mine },
    });
    const lease = newId();
    const [work] = await world.rows(
      `UPDATE work SET state = 1, attempt = 1, lease = $2 WHERE project_id = $1 RETURNING seq`,
      [world.projectId, lease],
    );
    const step = { place: messages.toSorted().at(-1), status: 'queued', messages } as const;
    const { projectId } = world;
    let canceled: Promise<{ status: string }> | undefined;
    await test.database.transaction(async (tx) => {
      const held = await recordReplays(tx, [
        {
          projectId,
          seq: String(work?.['seq']),
          lease,
          mark: null,
          replayId,
          destinationId: mine,
          done: true,
          waitMs: 0,
          spent: false,
          step,
        },
      ]);
      expect(held).toEqual([true]);
      canceled = world.deliveries.replays.cancel(projectId, replayId);
      expect(await eventually(waiting, (blocked) => blocked.length > 0)).toHaveLength(1);
    });
    expect(await canceled).toMatchObject({
      status: 'canceled',
      progress: { queued: 0, delivered: 0, failed: 0, pending: 0 },
    });
    expect(await works()).toEqual([]);
    expect(await rows('SELECT status, replay_id FROM delivery WHERE project_id = $1')).toEqual(
      messages.map(() => ({ status: 'delivered', replay_id: null })),
    );
  });
});
