import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { wholeProject } from '../../events/index.ts';
import { newId } from '../../kit/ids.ts';
import {
  eventually,
  good,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from '../harness.fixture.ts';
import type { NewMessage } from '../messages.ts';
import type { ReplayRequest } from './schema.ts';
import { forgetReplays } from './store.ts';

/** What ended with its destination. */
const withIt = { status: 'canceled', reason: 'The destination was deleted.' };

describe('deliveries/replay', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let other: Receiver;
  let mine: string;
  let elsewhere: string;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test, { timeoutMs: 5_000 });
    receiver = await startReceiver();
    other = await startReceiver();
    mine = await create('mine', receiver.url);
    elsewhere = await create('elsewhere', other.url);
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
    await other.close();
  });

  const create = async (name: string, url: string): Promise<string> => {
    const made = { name, type: 'webhook' as const, metadata: { url } };
    return (await world.deliveries.destinations.create(world.projectId, made)).id;
  };
  const start = (request: ReplayRequest) => world.deliveries.replays.start(world.projectId, request);
  const get = (id: string | undefined) => world.deliveries.replays.get(world.projectId, id!);
  const over = (id: string | undefined) =>
    eventually(
      () => get(id),
      ({ status }) => status !== 'running',
    );
  const work = (kind = 'delivery') =>
    world.rows('SELECT * FROM work WHERE project_id = $1 AND kind = $2', [world.projectId, kind]);
  const idle = (kind = 'delivery') =>
    eventually(
      () => work(kind),
      (rows) => rows.length === 0,
    );
  /** Delivered once, and nothing waits. */
  const deliver = async (count: number, values: Partial<NewMessage> = {}): Promise<string[]> => {
    const ids = await world.queue(mine, count, values);
    await idle();
    return ids;
  };
  /** Many messages that were delivered, without sending them. */
  const makeDelivered = async (count: number): Promise<void> => {
    const [sample] = await deliver(1);
    await world.rows(
      `WITH made AS (
        INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
        SELECT project_id, (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, installation_id, group_ref, object, destination_id, page, slice,
          records, bytes, encoding, body, keys FROM message, generate_series(1, $2::int) n WHERE id = $1 RETURNING project_id, id)
      INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT project_id, id, $3, 'delivered', 'delivered', 1, now(), now() FROM made`,
      [sample, count, mine],
    );
  };

  it('what was delivered arrives again, under the same id and with the same bytes, and says that it is a replay', async () => {
    await world.work();
    const ids = await deliver(5);
    await world.queue(elsewhere, 2);
    const started = await start({ filter: { destination: 'mine' } });
    expect(started).toEqual({
      replayId: expect.any(String) as string,
      count: 5,
      countIsComplete: true,
    });
    expect(await over(started.replayId)).toMatchObject({
      destinationId: mine,
      status: 'done',
      filter: { destination: mine },
      progress: { queued: 5, delivered: 5, failed: 0, pending: 0 },
    });
    expect(receiver.ids().slice(5).toSorted()).toEqual(ids.toSorted());
    for (const again of receiver.received.slice(5)) {
      expect(again.headers['x-svc-replay']).toBe('true');
      const first = receiver.received.find(
        ({ headers }) => headers['webhook-id'] === again.headers['webhook-id'],
      );
      expect(again.body).toBe(first!.body);
    }
    const deliveries = await world.rows(
      'SELECT status, attempts, replay_id FROM delivery WHERE destination_id = $1',
      [mine],
    );
    expect(deliveries).toEqual(ids.map(() => ({ status: 'delivered', attempts: 2, replay_id: null })));
    expect(await work('replay')).toEqual([]);
  });

  it('each member of the filter chooses, and a dry run counts the same and sends nothing', async () => {
    await world.work();
    const installationId = newId();
    await deliver(1, { object: 'companies' });
    await deliver(2, { groupRef: 'globex' });
    await deliver(3, { installationId });
    const middle = new Date();
    await new Promise((resolve) => setTimeout(resolve, 5));
    receiver.answer = (response) => response.writeHead(500).end();
    await world.queue(mine, 4);
    await eventually(
      () => world.rows('SELECT FROM delivery WHERE destination_id = $1', [mine]),
      (rows) => rows.length === 10,
    );
    await world.rows('UPDATE work SET attempt = 9, due_at = svc_now() WHERE project_id = $1', [
      world.projectId,
    ]);
    await world.hurry();
    await idle();
    receiver.answer = good;
    const cases: [ReplayRequest['filter'], number][] = [
      [{}, 10],
      [{ object: 'companies' }, 1],
      [{ object: 'contacts' }, 10],
      [{ groupRef: 'globex' }, 2],
      [{ installationId }, 3],
      [{ installationId, object: 'companies' }, 0],
      [{ status: 'failed' }, 4],
      [{ status: 'delivered' }, 6],
      [{ status: 'canceled' }, 0],
      [{ from: middle.toISOString() }, 4],
      [{ to: middle.toISOString() }, 6],
      [{ from: middle.toISOString(), status: 'delivered' }, 0],
    ];
    for (const [filter, count] of cases) {
      const request = { filter: { ...filter, destination: mine } };
      const counted = await start({ ...request, dryRun: true });
      expect([filter, counted]).toEqual([filter, { count, countIsComplete: true }]);
    }
    expect([receiver.received.length, await work(), await work('replay')]).toEqual([14, [], []]);
    for (const [filter, count] of cases) {
      const before = receiver.received.length;
      const { replayId } = await start({ filter: { ...filter, destination: mine } });
      const done = await over(replayId);
      // What failed is delivered by the first of them.
      const expected =
        filter.status === 'failed' ? 0 : filter.status === 'delivered' ? (filter.from ? 4 : 10) : count;
      expect([filter, done.progress.delivered]).toEqual([filter, expected]);
      expect(receiver.received.length - before).toBe(expected);
    }
  });

  it('begins with what was made at the time that it is told', async () => {
    await world.work();
    const [first, second] = await deliver(2);
    const list = (times: { from?: string; to?: string }) =>
      world.deliveries.log.list(wholeProject(world.projectId), { pageSize: 10, ...times });
    const { results } = await list({});
    const made = results.find(({ id }) => id === first)?.createTime ?? '';
    expect((await list({ from: made })).results.map(({ id }) => id)).toEqual([second, first]);
    expect((await list({ to: made })).results).toEqual([]);
    const filter = { destination: mine, from: made };
    expect(await start({ filter, dryRun: true })).toMatchObject({ count: 2 });
  });

  it('goes to another destination, whatever became of it at its own, and changes nothing there', async () => {
    await world.work();
    const ids = await deliver(3);
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    const [waiting] = await world.queue(mine, 1);
    const { replayId } = await start({ filter: { destination: mine }, destination: 'elsewhere' });
    expect(await over(replayId)).toMatchObject({ status: 'done', progress: { queued: 4, delivered: 4 } });
    expect(other.ids().toSorted()).toEqual([...ids, waiting!].toSorted());
    expect(other.received[0]!.headers['x-svc-replay']).toBe('true');
    expect(receiver.received).toHaveLength(3);
    const listed = await world.deliveries.log.list(wholeProject(world.projectId), { pageSize: 10 });
    expect(
      listed.results.map(({ status, destinationId, attemptCount }) => [status, destinationId, attemptCount]),
    ).toEqual([['pending', mine, 0], ...ids.map(() => ['delivered', mine, 1])]);
  });

  it('what fails at another destination is listed for that one, and counted at no operation', async () => {
    const operationId = newId();
    await world.rows(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      VALUES ($1, $2, $2, $2, $2, 'read', '{}', 'contacts', 'success', 1)`,
      [world.projectId, operationId],
    );
    await world.work();
    const [id] = await deliver(1, { operationId });
    other.answer = (response) => response.writeHead(500).end();
    const { replayId } = await start({ filter: { destination: mine }, destination: elsewhere });
    const listed = (query: { destination?: string; status?: 'pending' | 'failed' }) =>
      world.deliveries.log.list(wholeProject(world.projectId), { pageSize: 10, ...query });
    const waits = await eventually(
      () => listed({ destination: elsewhere, status: 'pending' }),
      ({ results }) => (results[0]?.attemptCount ?? 0) > 0,
    );
    expect(waits.results).toMatchObject([
      { id, destinationId: elsewhere, status: 'pending', httpStatus: 500 },
    ]);
    const whole = await listed({ destination: elsewhere });
    expect(whole.results).toMatchObject([{ id, destinationId: elsewhere, status: 'pending' }]);
    await world.rows('UPDATE work SET attempt = 9 WHERE project_id = $1', [world.projectId]);
    await world.hurry();
    expect(await over(replayId)).toMatchObject({ status: 'done', progress: { delivered: 0, failed: 1 } });
    expect((await listed({ destination: elsewhere, status: 'failed' })).results).toMatchObject([
      { id, destinationId: elsewhere, status: 'failed' },
    ]);
    expect((await listed({ destination: elsewhere })).results).toMatchObject([{ id, status: 'failed' }]);
    expect((await listed({ destination: mine })).results).toMatchObject([{ id, status: 'delivered' }]);
    expect((await listed({ status: 'failed' })).results).toEqual([]);
    expect(await world.countsOf(operationId)).toEqual({ succeeded: 1, failed: 0 });
  });

  it('what is delivered for the first time goes first', async () => {
    await world.work();
    await makeDelivered(400);
    receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 20);
    const before = receiver.received.length;
    const { replayId } = await start({ filter: { destination: mine } });
    await eventually(
      () => receiver.received.length,
      (count) => count >= before + 20,
    );
    const live = await world.queue(mine, 3);
    const at = receiver.received.length;
    await over(replayId);
    await idle();
    const places = live.map((id) => receiver.ids().indexOf(id));
    // What a lane has in its hands goes on.
    expect(Math.max(...places) - at).toBeLessThan(100);
    expect(Math.min(...places)).toBeGreaterThanOrEqual(at);
    expect(receiver.received).toHaveLength(before + 404);
  });

  it('of many that fail no more wait at once than so many', async () => {
    await world.work();
    await makeDelivered(6_000);
    receiver.answer = (response) => response.writeHead(500).end();
    const { replayId, count } = await start({ filter: { destination: mine } });
    expect(count).toBe(6_001);
    const most = await eventually(
      async () => (await work()).length,
      (waiting) => waiting >= 2_000,
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(most).toBeGreaterThanOrEqual(2_000);
    expect((await work()).length).toBeLessThanOrEqual(3_000);
    const { status, progress } = await get(replayId);
    expect([status, progress.queued <= 3_000]).toEqual(['running', true]);
    expect(Date.parse(progress.reachedTime!)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('a step that was begun on a node that is gone is made again, and nothing is sent twice', async () => {
    const worker = await world.work();
    await makeDelivered(2_500);
    await worker.stop(1_000);
    const { replayId } = await start({ filter: { destination: mine } });
    await world.rows(
      `UPDATE work SET state = 1, attempt = 1, lease = gen_random_uuid() WHERE project_id = $1 AND kind = 'replay'`,
      [world.projectId],
    );
    const before = receiver.received.length;
    const second = await world.work({ leaseMs: 1_000 });
    await eventually(
      () => receiver.received.length,
      (count) => count > before + 500,
    );
    await second.stop(1_000);
    const place = (await world.rows('SELECT place, queued FROM replay WHERE id = $1', [replayId]))[0]!;
    expect(Number(place['queued'])).toBeGreaterThan(0);
    await world.work();
    const until = performance.now() + 20_000;
    while ((await get(replayId)).status === 'running' && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await get(replayId)).toMatchObject({
      status: 'done',
      progress: { queued: 2_501, delivered: 2_501, failed: 0, pending: 0 },
    });
    expect(new Set(receiver.ids().slice(before)).size).toBe(2_501);
  }, 40_000);

  it('canceled, it takes back what waits, and leaves what was sent', async () => {
    await world.work();
    await makeDelivered(3_000);
    receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 20);
    const { replayId } = await start({ filter: { destination: mine } });
    await eventually(
      async () => (await get(replayId)).progress.delivered,
      (delivered) => delivered > 0,
    );
    const canceled = await world.deliveries.replays.cancel(world.projectId, replayId!);
    expect(canceled).toMatchObject({ status: 'canceled', reason: 'Canceled by request.' });
    await idle();
    const { progress } = await get(replayId);
    expect(progress.delivered).toBeGreaterThan(0);
    expect(progress.delivered).toBeLessThan(1_500);
    expect(progress).toMatchObject({ queued: progress.delivered, pending: 0 });
    const [row] = await world.rows(
      `SELECT count(*) FILTER (WHERE status <> 'delivered' OR replay_id IS NOT NULL)::int AS changed FROM delivery WHERE destination_id = $1`,
      [mine],
    );
    expect(row).toEqual({ changed: 0 });
    const again = await world.deliveries.replays.cancel(world.projectId, replayId!);
    expect(again.status).toBe('canceled');
    expect(
      await world.rows(`SELECT action FROM audit_log WHERE target_id = $1 ORDER BY id`, [replayId]),
    ).toEqual([{ action: 'replay.started' }, { action: 'replay.canceled' }]);
  });

  it('what ran out of attempts is sent again when its destination is enabled', async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    await world.queue(mine, 3);
    await world.rows('UPDATE work SET attempt = 9 WHERE project_id = $1', [world.projectId]);
    await world.work();
    await idle();
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    receiver.answer = good;
    const before = receiver.received.length;
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    const [replay] = (await world.deliveries.replays.list(world.projectId, { pageSize: 10 })).results;
    expect(await over(replay!.id)).toMatchObject({
      filter: { destination: mine, status: 'failed' },
      progress: { queued: 3, delivered: 3 },
    });
    expect(receiver.received.length - before).toBe(3);
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    expect((await world.deliveries.replays.list(world.projectId, { pageSize: 10 })).results).toHaveLength(1);
  });

  it('ends with its destination, and says so', async () => {
    await world.deliveries.destinations.disable(world.projectId, 'elsewhere');
    await world.work();
    await deliver(2);
    const { replayId } = await start({ filter: { destination: mine }, destination: 'elsewhere' });
    await world.deliveries.destinations.delete(world.projectId, 'elsewhere', { cancelPending: true });
    expect(await over(replayId)).toMatchObject(withIt);
    await idle('replay');
    expect(
      await start({ filter: { destination: elsewhere }, destination: 'mine', dryRun: true }),
    ).toMatchObject({ count: 0 });
  });

  it('ends with its destination where all of it is queued, too', async () => {
    await world.work();
    await deliver(2);
    other.answer = (response) => response.writeHead(500).end();
    const { replayId } = await start({ filter: { destination: mine }, destination: 'elsewhere' });
    await idle('replay');
    expect(await get(replayId)).toMatchObject({ status: 'running', progress: { queued: 2, pending: 2 } });
    await world.deliveries.destinations.delete(world.projectId, 'elsewhere', { cancelPending: true });
    await idle();
    expect(await get(replayId)).toMatchObject({ ...withIt, progress: { delivered: 0, pending: 0 } });
  });

  it('is forgotten with the messages of its time, unless it goes on', async () => {
    await world.deliveries.destinations.disable(world.projectId, 'elsewhere');
    const ended = await start({ filter: { destination: elsewhere }, destination: 'elsewhere' });
    await world.deliveries.replays.cancel(world.projectId, ended.replayId!);
    const going = await start({ filter: { destination: elsewhere } });
    await forgetReplays(test.database, 30);
    expect(await get(ended.replayId)).toMatchObject({ status: 'canceled' });
    await world.rows(`UPDATE replay SET created_at = svc_now() - interval '31 days' WHERE project_id = $1`, [
      world.projectId,
    ]);
    await forgetReplays(test.database, 30);
    await expect(get(ended.replayId)).rejects.toMatchObject({ code: 'not-found' });
    expect(await get(going.replayId)).toMatchObject({ status: 'running' });
  });

  it('refuses what names no destination, and a time that is none', async () => {
    const at = '2026-01-02T00:00:00Z';
    const wrong: [ReplayRequest, string][] = [
      [{ filter: {} }, 'destination'],
      [{ filter: { destination: 'nowhere' } }, 'filter.destination'],
      [{ filter: { destination: 'mine' }, destination: 'nowhere' }, 'destination'],
      [{ filter: { destination: newId() } }, 'filter.destination'],
      [{ filter: { destination: 'mine', installationId: 'x' } }, 'filter.installationId'],
      [{ filter: { destination: 'mine', from: at, to: at } }, 'filter.to'],
    ];
    for (const [request, name] of wrong)
      await expect(start(request)).rejects.toMatchObject({ details: { issues: [{ name }] } });
    const counted = await start({ filter: { destination: 'mine', to: at }, dryRun: true });
    expect(counted).toMatchObject({ count: 0 });
  });
});
