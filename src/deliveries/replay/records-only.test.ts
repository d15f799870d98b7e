import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from '../harness.fixture.ts';
import { createKinds } from '../kinds.ts';
import { openWarehouse, type Warehouse } from '../postgres/harness.fixture.ts';

describe('deliveries/replay, to what takes records only', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let warehouse: Warehouse;
  let mine: string;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test, { kinds: createKinds({}) });
    receiver = await startReceiver();
    warehouse = await openWarehouse();
    const { destinations } = world.deliveries;
    const toWebhook = { name: 'mine', type: 'webhook' as const, metadata: { url: receiver.url } };
    mine = (await destinations.create(world.projectId, toWebhook)).id;
    const { metadata, password } = warehouse;
    const toTable = { name: 'table', type: 'postgres' as const, metadata, secrets: { password } };
    await destinations.create(world.projectId, toTable);
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
    await warehouse.close();
  });

  const replay = (dryRun: boolean) =>
    world.deliveries.replays.start(world.projectId, {
      filter: { destination: mine },
      destination: 'table',
      dryRun,
    });

  it('neither counts nor sends what tells of an event, which fails there and raises an alarm', async () => {
    await world.work();
    await world.queue(mine, 2);
    const told = await world.queue(mine, 3);
    await world.rows(`UPDATE message SET event_type = 'write.async.done' WHERE id = ANY ($1)`, [told]);
    await eventually(
      () => Promise.resolve(receiver.ids()),
      (ids) => ids.length === 5,
    );
    expect(await replay(true)).toEqual({ count: 2, countIsComplete: true });
    const { replayId } = await replay(false);
    const done = await eventually(
      () => world.deliveries.replays.get(world.projectId, replayId!),
      ({ status }) => status !== 'running',
    );
    expect(done).toMatchObject({ status: 'done', progress: { queued: 2, delivered: 2, failed: 0 } });
  });
});
