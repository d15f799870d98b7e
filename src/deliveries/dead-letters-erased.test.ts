import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import type { Erased } from '../kit/db/erasing.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import { eraseMessages } from './store/erase.ts';

describe('deliveries, of whose messages some were erased', () => {
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
    world = openDeliveryWorld(test, { timeoutMs: 5_000 });
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(204).end();
    const made = { name: 'mine', type: 'webhook', metadata: { url: receiver.url } } as const;
    mine = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterEach(() => world.close());

  const rows = (text: string): Promise<Record<string, unknown>[]> => world.rows(text, [world.projectId]);
  const works = () => rows('SELECT FROM work WHERE project_id = $1');
  const replays = async () =>
    (await world.deliveries.replays.list(world.projectId, { pageSize: 10 })).results;
  const over = (id = '') =>
    eventually(
      () => world.deliveries.replays.get(world.projectId, id),
      ({ status }) => status !== 'running',
    );
  const erase = (): Promise<Erased> =>
    eraseMessages(
      test.database,
      {
        projectId: world.projectId,
        groupRef: null,
        after: '00000000-0000-0000-0000-000000000000',
        until: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        askedAt: '',
      },
      1_000,
    );
  /** As messages that ran out of attempts, of which the oldest `gone` have no message any more: a release before this one kept such. */
  const makeDead = async (count: number, gone: number): Promise<void> => {
    const [sample] = await world.messages(mine, 1);
    await world.queue(mine, 1, { id: sample?.id ?? '' });
    await world.rows(
      `WITH made AS (
        INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
        SELECT project_id, (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, installation_id, group_ref, object, destination_id, page, slice,
          records, bytes, encoding, body, keys FROM message, generate_series(1, $2::int) n WHERE project_id = $1 RETURNING id)
      INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT $1, id, $3, 'failed', 'failed', 10, now(), now() FROM made`,
      [world.projectId, count, mine],
    );
    await rows(`DELETE FROM work WHERE project_id = $1`);
    await world.rows(
      `DELETE FROM message WHERE project_id = $1 AND (id = $3 OR id IN (
        SELECT message_id FROM delivery WHERE project_id = $1 ORDER BY message_id LIMIT $2))`,
      [world.projectId, gone, sample?.id],
    );
  };

  it('an erasure while the last attempt is under way leaves no delivery behind', async () => {
    await world.queue(mine, 1);
    await rows('UPDATE work SET attempt = 9 WHERE project_id = $1');
    let answer: (() => void) | undefined;
    receiver.answer = (response) => (answer = () => void response.writeHead(500).end('of a customer'));
    await world.work();
    await eventually(
      () => answer !== undefined,
      (came) => came,
    );
    expect(await erase()).toMatchObject({ scanned: 1 });
    answer?.();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(await rows('SELECT status FROM delivery WHERE project_id = $1')).toEqual([]);
    expect(
      await rows('SELECT dead_letters::int AS dead, dead_since FROM destination WHERE project_id = $1'),
    ).toEqual([{ dead: 0, dead_since: null }]);
  });

  it('enabling replays those whose messages are kept, behind others that are not', async () => {
    await makeDead(3, 1);
    await world.work();
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    const [replay, ...others] = await replays();
    expect(others).toEqual([]);
    expect(await over(replay?.id)).toMatchObject({ status: 'done', progress: { queued: 2, delivered: 2 } });
    expect(receiver.received).toHaveLength(2);
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    expect(await replays()).toHaveLength(1);
  });

  it('a replay of what failed does not end at one without a message', async () => {
    await makeDead(1_003, 1);
    const { replayId, count } = await world.deliveries.replays.start(world.projectId, {
      filter: { destination: mine, status: 'failed' },
    });
    expect(count).toBe(1_002);
    await world.work();
    expect(await over(replayId)).toMatchObject({
      status: 'done',
      progress: { queued: 1_002, delivered: 1_002, failed: 0 },
    });
  });
});
