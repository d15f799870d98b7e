import { describe, expect, it } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { aDestination } from '../destination.fixture.ts';
import { eventually } from '../harness.fixture.ts';
import { recordReplays } from './store.ts';

describe('deliveries/replay, canceled while a step is recorded', () => {
  const at = aDestination('mine');

  const waiting = () =>
    at.rows(`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND $1::uuid IS NOT NULL`);

  it('takes back what that step queued', async () => {
    const worker = await at.world.work();
    const messages = await at.world.queue(at.to, 2);
    const works = () => at.rows(`SELECT seq, kind FROM work WHERE project_id = $1 ORDER BY seq`);
    await eventually(works, (left) => left.length === 0);
    await worker.stop(1_000);
    const { replayId = '' } = await at.world.deliveries.replays.start(at.world.projectId, {
      filter: { destination: at.to },
    });
    const lease = newId();
    const [work] = await at.world.rows(
      `UPDATE work SET state = 1, attempt = 1, lease = $2 WHERE project_id = $1 RETURNING seq`,
      [at.world.projectId, lease],
    );
    const step = { place: messages.toSorted().at(-1), status: 'queued', messages } as const;
    const { projectId } = at.world;
    let canceled: Promise<{ status: string }> | undefined;
    await at.test.database.transaction(async (tx) => {
      const held = await recordReplays(tx, [
        {
          projectId,
          seq: String(work?.['seq']),
          lease,
          mark: null,
          replayId,
          destinationId: at.to,
          done: true,
          waitMs: 0,
          spent: false,
          step,
        },
      ]);
      expect(held).toEqual([true]);
      canceled = at.world.deliveries.replays.cancel(projectId, replayId);
      expect(await eventually(waiting, (blocked) => blocked.length > 0)).toHaveLength(1);
    });
    expect(await canceled).toMatchObject({
      status: 'canceled',
      progress: { queued: 0, delivered: 0, failed: 0, pending: 0 },
    });
    expect(await works()).toEqual([]);
    expect(await at.rows('SELECT status, replay_id FROM delivery WHERE project_id = $1')).toEqual(
      messages.map(() => ({ status: 'delivered', replay_id: null })),
    );
  });

  it('sends nothing more once an attempt that was on its way failed', async () => {
    await at.world.work();
    await at.world.queue(at.to, 1);
    const delivery = () =>
      at.rows('SELECT status, ended, replay_id, attempts FROM delivery WHERE project_id = $1');
    await eventually(delivery, ([one]) => one?.['status'] === 'delivered');
    let fail: (() => void) | undefined;
    at.receiver.answer = (response) => (fail = () => void response.writeHead(500).end());
    const { projectId, deliveries } = at.world;
    const { replayId = '' } = await deliveries.replays.start(projectId, { filter: { destination: at.to } });
    await eventually(
      () => Promise.resolve(fail),
      (one) => one !== undefined,
    );
    expect(await deliveries.replays.cancel(projectId, replayId)).toMatchObject({ progress: { queued: 1 } });
    at.receiver.answer = (response) => response.writeHead(204).end();
    fail?.();
    await eventually(delivery, ([one]) => one?.['attempts'] === 2);
    await at.world.hurry();
    const works = () => at.rows(`SELECT ref FROM work WHERE project_id = $1`);
    await eventually(works, (left) => left.length === 0);
    expect(at.receiver.received.length).toBe(2);
    expect(await delivery()).toEqual([
      { status: 'delivered', ended: 'delivered', replay_id: null, attempts: 2 },
    ]);
    expect(await deliveries.replays.get(projectId, replayId)).toMatchObject({
      id: replayId,
      progress: { queued: 0, delivered: 0, failed: 0, pending: 0 },
    });
  });
});
