import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from '../deliveries/harness.fixture.ts';
import { transferOn } from './harness.fixture.ts';

const passphrase = 'correct horse battery staple';

describe('transfer/imported-destinations', () => {
  let test: TestDatabase;
  let from: DeliveryWorld;
  let to: DeliveryWorld;
  let mine: Receiver;
  let other: Receiver;

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test?.drop());
  beforeEach(async () => {
    [from, to] = [openDeliveryWorld(test), openDeliveryWorld(test)];
    [mine, other] = [await startReceiver(), await startReceiver()];
  });
  afterEach(async () => {
    await Promise.all([from.close(), to.close()]);
    await Promise.all([mine.close(), other.close()]);
  });

  const create = async ({ deliveries, projectId }: DeliveryWorld, name: string, { url }: Receiver) => {
    const made = { name, type: 'webhook', metadata: { url } };
    return (await deliveries.destinations.create(projectId, made)).id;
  };
  /** Until a later message has arrived elsewhere. */
  const queueFor = async (id: string): Promise<void> => {
    const elsewhere = await create(to, 'other', other);
    await to.work();
    await to.queue(id, 1);
    await to.queue(elsewhere, 1);
    const arrived = await eventually(
      () => other.received.length,
      (count) => count === 1,
    );
    expect(arrived).toBe(1);
  };
  const enabled = async (): Promise<number> => {
    await to.deliveries.destinations.enable(to.projectId, 'mine');
    return eventually(
      () => mine.received.length,
      (count) => count === 1,
    );
  };

  it('what is for a destination that came in disabled waits until it is enabled', async () => {
    const id = await create(from, 'mine', mine);
    await from.deliveries.destinations.disable(from.projectId, 'mine');
    const transfer = transferOn(test.database, from.ground);
    const { file } = await transfer.export({ id: from.projectId, name: 'from' }, { passphrase });
    await transfer.import(to.projectId, { passphrase, file });
    const { status } = await to.deliveries.destinations.get(to.projectId, 'mine');
    expect(status).toBe('disabled');
    await queueFor(id);
    expect(mine.received).toEqual([]);
    expect(await enabled()).toBe(1);
  });

  it('nothing is sent in the clear to a destination that came into production from a development', async () => {
    const id = await create(from, 'mine', mine);
    const transfer = transferOn(test.database, from.ground);
    const { file } = await transfer.export({ id: from.projectId, name: 'from' }, { passphrase });
    const world = openDeliveryWorld(test, { production: true });
    await transfer.import(world.projectId, { passphrase, file });
    const { projectId, deliveries } = world;
    const said = 'Nothing was sent: metadata.url of the destination mine must begin with https://, unless';
    const error = expect.stringContaining(said) as string;
    expect(await deliveries.test(projectId, 'mine')).toMatchObject({ success: false, error });
    await world.work();
    await world.queue(id, 1);
    const told = await eventually(
      () => world.rows('SELECT status, error FROM delivery WHERE project_id = $1', [projectId]),
      (rows) => rows.length === 1,
    );
    expect(told).toEqual([{ status: 'pending', error }]);
    expect(mine.received).toEqual([]);
    await world.close();
  });

  it('what is for a destination waits where it is disabled again that a former release took in so', async () => {
    const id = await create(to, 'mine', mine);
    await test.database.raw(`UPDATE destination SET status = 'disabled' WHERE id = '${id}'`);
    await to.deliveries.destinations.disable(to.projectId, 'mine');
    await queueFor(id);
    expect(mine.received).toEqual([]);
    expect(await enabled()).toBe(1);
  });
});
