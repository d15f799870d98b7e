import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { tellDeadLetters } from './dead-letters.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';

describe('deliveries/dead-letters', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let destinationId: string;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(500).end();
    const made = { name: 'mine', type: 'webhook' as const, metadata: { url: receiver.url } };
    destinationId = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
  });

  const events = () =>
    world.rows('SELECT type, group_ref, data FROM event WHERE project_id = $1 ORDER BY id', [
      world.projectId,
    ]);
  const runOut = async (count: number): Promise<void> => {
    await world.queue(destinationId, count);
    await world.rows('UPDATE work SET attempt = 9 WHERE project_id = $1', [world.projectId]);
    await world.work();
    await eventually(
      () => world.rows(`SELECT FROM work WHERE project_id = $1`, [world.projectId]),
      (rows) => rows.length === 0,
    );
  };

  it('what ran out of attempts is told of once, with how many they are', async () => {
    await runOut(3);
    const about = { projectId: world.projectId, destinationId, destinationName: 'mine' };
    expect(await tellDeadLetters(test.database, 60_000)).toBe(false);
    expect(await events()).toEqual([]);
    await tellDeadLetters(test.database, 0);
    await tellDeadLetters(test.database, 0);
    expect(await events()).toEqual([
      {
        type: 'destination.deliveries.failed',
        group_ref: null,
        data: { ...about, count: 3, since: expect.any(String) as string },
      },
    ]);
  });

  it('those of a failing destination go on counting from when it began to fail', async () => {
    await runOut(1);
    const since = async () =>
      (await world.rows('SELECT failing_since FROM destination WHERE id = $1', [destinationId]))[0];
    const first = await since();
    await runOut(2);
    expect(await since()).toEqual(first);
    await tellDeadLetters(test.database, 0);
    expect((await events()).map(({ data }) => (data as { count: number }).count)).toEqual([3]);
  });

  it('are counted while they are kept', async () => {
    const before = (await world.rows(`SELECT FROM delivery WHERE status = 'failed'`)).length;
    await runOut(2);
    expect(await world.deliveries.deadLetters()).toBe(before + 2);
  });
});
