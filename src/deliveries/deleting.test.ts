import { describe, expect, it } from 'vitest';
import { record, wholeProject } from '../events/index.ts';
import { aDestination } from './destination.fixture.ts';
import { eventually } from './harness.fixture.ts';
import { keepMessages } from './index.ts';
import { begin, planOf } from './replay/begin.ts';
import { deleteDestination, lockDestinationToDelete } from './store/destinations.ts';

describe('deliveries, of a destination that is deleted', () => {
  const at = aDestination('inbox', { timeoutMs: 5_000 });

  const remove = (cancelPending = false): Promise<void> =>
    at.world.deliveries.destinations.delete(at.world.projectId, 'inbox', { cancelPending });
  const waiting = (deliveries: number) => ({
    code: 'deliveries-waiting',
    message: expect.stringContaining(`${deliveries} deliveries wait`) as string,
  });
  const blocked = () =>
    at.test.database.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  const works = () => at.rows('SELECT FROM work WHERE project_id = $1');
  /** The answers to what is sent, once so many were asked for. */
  const hanging = async (count: number): Promise<() => void> => {
    const left: (() => void)[] = [];
    at.receiver.answer = (response) => void left.push(() => response.writeHead(500).end());
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, count));
    offer.kept(await keepMessages(at.test.database, offer.messages));
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
      () => at.rows('SELECT FROM work WHERE project_id = $1 AND state = 1'),
      (left) => left.length === 0,
    );
    expect(await at.rows('SELECT status FROM delivery WHERE project_id = $1')).toEqual(
      Array.from({ length: 8 }, () => ({ status: 'pending' })),
    );
    await expect(remove()).rejects.toMatchObject(waiting(8));
    await remove(true);
    await at.world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(
      await at.rows(
        `SELECT details->>'canceledDeliveries' AS n FROM audit_log WHERE project_id = $1 AND action = 'destination.deleted'`,
      ),
    ).toEqual([{ n: '8' }]);
  });

  it('what is sent to another one is not counted', async () => {
    const answer = await hanging(2);
    const other = { name: 'other', type: 'webhook', metadata: { url: at.receiver.url } } as const;
    await at.world.deliveries.destinations.create(at.world.projectId, other);
    await at.world.deliveries.destinations.delete(at.world.projectId, 'other', { cancelPending: false });
    expect(await at.rows('SELECT name FROM destination WHERE project_id = $1')).toEqual([{ name: 'inbox' }]);
    answer();
  });

  it('a replay that waits is not counted', async () => {
    const replay = { filter: { status: 'failed' as const }, destination: 'inbox' };
    await at.world.deliveries.replays.start(at.world.projectId, replay);
    expect(await works()).toHaveLength(1);
    await remove();
    await at.world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(await at.rows('SELECT status FROM replay WHERE project_id = $1')).toEqual([
      { status: 'canceled' },
    ]);
  });

  it('what tells of something meanwhile is counted', async () => {
    await at.world.deliveries.notifications.set(at.world.projectId, [
      { eventTypes: ['connection.created'], destination: 'inbox' },
    ]);
    let removed: Promise<unknown> | undefined;
    await at.test.database.transaction(async (tx) => {
      await record(tx, {
        projectId: at.world.projectId,
        told: { type: 'connection.created', data: '{}' },
      });
      removed = remove().catch((error: unknown) => error);
      expect(await eventually(blocked, (some) => some.length > 0)).toHaveLength(1);
    });
    expect(await removed).toMatchObject(waiting(1));
  });

  it('what is asked for again meanwhile finds no destination, and stays as it is', async () => {
    const worker = await at.world.work();
    at.receiver.answer = (response) => response.writeHead(204).end();
    const [id = ''] = await at.world.queue(at.to, 1);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    await worker.stop(1_000);
    const { projectId } = at.world;
    let retried: Promise<unknown> | undefined;
    await at.test.database.transaction(async (tx) => {
      await lockDestinationToDelete(tx, { projectId, id: at.to });
      expect(await deleteDestination(tx, projectId, at.to)).toBe(0);
      retried = at.world.deliveries.log.retry(wholeProject(projectId), id).catch((error: unknown) => error);
      await Promise.race([retried, eventually(blocked, (some) => some.length > 0)]);
    });
    expect(await retried).toMatchObject({ code: 'not-found' });
    expect([await works(), await at.rows('SELECT status FROM delivery WHERE project_id = $1')]).toEqual([
      [],
      [{ status: 'delivered' }],
    ]);
  });

  it('a replay that is begun meanwhile is refused, and what it would send stays as it is', async () => {
    const worker = await at.world.work();
    at.receiver.answer = (response) => response.writeHead(204).end();
    await at.world.queue(at.to, 1);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    await worker.stop(1_000);
    const { projectId } = at.world;
    let begun: Promise<unknown> | undefined;
    await at.test.database.transaction(async (tx) => {
      await lockDestinationToDelete(tx, { projectId, id: at.to });
      expect(await deleteDestination(tx, projectId, at.to)).toBe(0);
      const request = { filter: { destination: at.to } };
      begun = at.world.deliveries.replays.start(projectId, request).catch((error: unknown) => error);
      await Promise.race([begun, eventually(blocked, (some) => some.length > 0)]);
    });
    expect(await begun).toMatchObject({ code: 'invalid-request' });
    expect([
      await works(),
      await at.rows('SELECT FROM replay WHERE project_id = $1'),
      await at.rows('SELECT status FROM delivery WHERE project_id = $1'),
    ]).toEqual([[], [], [{ status: 'delivered' }]]);
  });

  it('what had ended before a replay is as it was where its destination is deleted while it waits again', async () => {
    const worker = await at.world.work();
    at.receiver.answer = (response) => response.writeHead(204).end();
    await at.world.queue(at.to, 2);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    at.receiver.answer = (response) => response.writeHead(500).end();
    await at.world.deliveries.replays.start(at.world.projectId, { filter: { destination: at.to } });
    const statuses = () =>
      at.rows('SELECT status, http_status FROM delivery WHERE project_id = $1 ORDER BY message_id');
    const waits = { status: 'pending', http_status: 500 };
    expect(await eventually(statuses, (rows) => rows.every((row) => row['http_status'] === 500))).toEqual([
      waits,
      waits,
    ]);
    await worker.stop(1_000);
    await at.world.queue(at.to, 1);
    await remove(true);
    await at.world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(await statuses()).toEqual([
      { status: 'delivered', http_status: 500 },
      { status: 'delivered', http_status: 500 },
      { status: 'canceled', http_status: null },
    ]);
  });

  it('a step of a replay on a node that still knows it changes no delivery, and ends the replay', async () => {
    await at.world.work();
    at.receiver.answer = (response) => response.writeHead(204).end();
    await at.world.queue(at.to, 2);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    const { projectId } = at.world;
    await at.test.database.transaction((tx) => deleteDestination(tx, projectId, at.to));
    // As a node of the release before begins one.
    await at.test.database.transaction((tx) => begin(tx, planOf(projectId, at.to, { destination: at.to })));
    at.world.deliveries.announce(at.to);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect([
      await at.rows('SELECT status, reason, queued FROM replay WHERE project_id = $1'),
      await at.rows('SELECT status FROM delivery WHERE project_id = $1'),
    ]).toEqual([
      [{ status: 'canceled', reason: 'The destination was deleted.', queued: '0' }],
      [{ status: 'delivered' }, { status: 'delivered' }],
    ]);
  });
});
