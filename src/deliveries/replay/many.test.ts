import { beforeEach, describe, expect, it } from 'vitest';
import { aDestination } from '../destination.fixture.ts';
import { eventually, startReceiver } from '../harness.fixture.ts';
import type { ReplayRequest } from './schema.ts';

describe('deliveries/replay, many to one destination', () => {
  const at = aDestination('mine');
  beforeEach(() => at.world.work());
  const rows = (text: string, more: string) => at.world.rows(text, [at.world.projectId, more]);

  const idle = (kind: string) =>
    eventually(
      () => rows(`SELECT FROM work WHERE project_id = $1 AND kind = $2`, kind),
      (left) => left.length === 0,
    );
  const start = (request: ReplayRequest) => at.world.deliveries.replays.start(at.world.projectId, request);
  const over = (id: string | undefined) =>
    eventually(
      () => at.world.deliveries.replays.get(at.world.projectId, id!),
      ({ status }) => status !== 'running',
    );

  it('sends what failed at several destinations once', async () => {
    const receiver = await startReceiver();
    const made = { name: 'elsewhere', type: 'webhook' as const, metadata: { url: receiver.url } };
    const elsewhere = (await at.world.deliveries.destinations.create(at.world.projectId, made)).id;
    const messages = await at.world.queue(at.to, 1);
    await idle('delivery');
    await rows(
      `WITH failed AS (UPDATE delivery SET status = 'failed', ended = 'failed' WHERE project_id = $1 RETURNING *)
      INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT project_id, message_id, $2, status, ended, attempts, first_at, last_at FROM failed`,
      elsewhere,
    );
    const request = { filter: { status: 'failed' as const }, destination: 'elsewhere' };
    expect(await start({ ...request, dryRun: true })).toMatchObject({ count: 1 });
    const { replayId } = await start(request);
    expect(await over(replayId)).toMatchObject({ status: 'done', progress: { queued: 1, delivered: 1 } });
    expect(receiver.ids()).toEqual(messages);
    await receiver.close();
  });

  it('goes on however many replays wait', async () => {
    await at.world.queue(at.to, 1);
    await idle('delivery');
    const request = { filter: { destination: at.to } };
    const { replayId } = await start(request);
    await over(replayId);
    await rows(
      `WITH made AS (
        INSERT INTO replay (project_id, id, destination_id, filter, place, until)
        SELECT project_id, gen_random_uuid(), destination_id, filter, place, until FROM replay, generate_series(1, 2000)
        WHERE project_id = $1 AND id = $2
        RETURNING project_id, id, destination_id)
      INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline)
      SELECT project_id, id, destination_id, 'replay', 3, svc_now() + interval '1 hour', svc_now() + interval '400 days' FROM made`,
      replayId!,
    );
    const next = await start(request);
    expect(await over(next.replayId)).toMatchObject({ status: 'done', progress: { delivered: 1 } });
  });
});
