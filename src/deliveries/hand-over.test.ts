import { describe, expect, it } from 'vitest';
import { newId } from '../kit/ids.ts';
import { sleep } from '../kit/retry.ts';
import { pause } from '../lanes/index.ts';
import { openNode } from '../lanes/store/lanes.ts';
import { aDestination } from './destination.fixture.ts';
import { eventually, good } from './harness.fixture.ts';
import { keepMessages } from './index.ts';

const leaseMs = 1_000;

describe('deliveries/hand-over', () => {
  const at = aDestination('inbox', { leaseMs });

  const works = () => at.rows('SELECT lane_id, state, attempt FROM work WHERE project_id = $1 ORDER BY seq');
  const statuses = async () =>
    (await at.rows('SELECT status, attempts FROM delivery WHERE project_id = $1 ORDER BY message_id')).map(
      ({ status, attempts }) => [status, attempts],
    );
  const times = (id: string | undefined): number => at.receiver.ids().filter((one) => one === id).length;
  const hand = async (count: number): Promise<string[]> => {
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, count));
    offer.kept(await keepMessages(at.test.database, offer.messages));
    return offer.messages.map(({ id }) => id);
  };

  it('sends at once what was kept, without a worker, and leaves no work', async () => {
    const ids = await hand(3);
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(at.receiver.ids().toSorted()).toEqual(ids.toSorted());
    expect(await statuses()).toEqual([
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  it('leaves to the lane what goes beyond eight at once, and wakes it', async () => {
    at.receiver.answer = () => undefined;
    await hand(6);
    await hand(4);
    expect(await works()).toEqual([
      ...Array.from({ length: 8 }, () => ({
        lane_id: expect.not.stringMatching(at.to),
        state: 1,
        attempt: 1,
      })),
      ...Array.from({ length: 2 }, () => ({ lane_id: at.to, state: 0, attempt: 0 })),
    ]);
    expect(await at.rows('SELECT lane_id FROM wake WHERE project_id = $1')).toEqual([{ lane_id: at.to }]);
  });

  it('what fails goes back to the lane of its destination, which tries it again under its id, and nothing more is sent past it', async () => {
    at.receiver.answer = (response) => response.writeHead(500).end();
    const [id = ''] = await hand(1);
    const home = { lane_id: at.to, state: 0, attempt: 1 };
    expect(await eventually(works, ([work]) => work?.['state'] === 0)).toEqual([home]);
    at.receiver.answer = good;
    await hand(1);
    expect(await works()).toEqual([home, { lane_id: at.to, state: 0, attempt: 0 }]);
    await at.world.work();
    await at.world.hurry();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(times(id)).toBe(2);
    expect(await statuses()).toEqual([
      ['delivered', 2],
      ['delivered', 1],
    ]);
  });

  it.each([429, 503])('sends nothing else there while a %i asks to wait', async (status) => {
    at.receiver.answer = (response) => response.writeHead(status, { 'retry-after': '3600' }).end();
    await hand(1);
    expect(await eventually(works, ([work]) => work?.['state'] === 0)).toHaveLength(1);
    await hand(2);
    await at.world.work();
    const wakes = () => at.rows('SELECT FROM wake WHERE project_id = $1');
    expect(await eventually(wakes, (left) => left.length === 0)).toEqual([]);
    await sleep(500);
    expect(at.receiver.received).toHaveLength(1);
    const [lane] = await at.rows(
      "SELECT due_at > svc_now() + interval '59 minutes' AS rests FROM lane WHERE project_id = $1 AND kind <> 'node'",
    );
    expect(lane).toEqual({ rests: true });
  });

  it('starts nothing for a destination that was disabled meanwhile', async () => {
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, 1));
    await pause(at.test.database, at.world.projectId, at.to, true);
    const started = await keepMessages(at.test.database, offer.messages);
    offer.kept(started);
    expect(started).toEqual([]);
    expect(await works()).toEqual([{ lane_id: at.to, state: 0, attempt: 0 }]);
  });

  it('starts nothing under a lane that this node has lost', async () => {
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, 1));
    await at.rows("UPDATE lane SET lease = gen_random_uuid() WHERE project_id = $1 AND kind = 'node'");
    const started = await keepMessages(at.test.database, offer.messages);
    offer.kept(started);
    expect(started).toEqual([]);
    expect(await works()).toEqual([{ lane_id: at.to, state: 0, attempt: 0 }]);
  });

  it('what was kept, and whose answer was lost, goes to the lane of its destination', async () => {
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, 1));
    await keepMessages(at.test.database, offer.messages);
    offer.kept([]);
    const home = { lane_id: at.to, state: 0, attempt: 0 };
    expect(await eventually(works, ([work]) => work?.['state'] === 0)).toEqual([home]);
    await at.world.work();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(times(offer.messages[0]?.id)).toBe(1);
  });

  it('what a node that is gone had started is sent by another', async () => {
    const node = { projectId: at.world.projectId, id: newId(), lease: newId() };
    await openNode(at.test.database, node, 100);
    const [message] = await at.world.messages(at.to, 1, { node });
    expect(await keepMessages(at.test.database, message ? [message] : [])).toHaveLength(1);
    await at.world.work({ leaseMs });
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(times(message?.id)).toBe(1);
    const nodeLanes = () => at.rows("SELECT id FROM lane WHERE project_id = $1 AND kind = 'node'");
    expect(await eventually(nodeLanes, (left) => left.length === 0)).toEqual([]);
  });

  it('what was being kept while its node gave its lanes back is sent by another', async () => {
    await hand(1);
    await eventually(works, (left) => left.length === 0);
    const offer = await at.world.deliveries.handOver.offer(await at.world.messages(at.to, 1));
    let isClosed: Promise<void> | undefined;
    await at.test.database.transaction(async (tx) => {
      expect(await keepMessages(tx, offer.messages)).toHaveLength(1);
      isClosed = at.world.deliveries.close();
      const waiting = () =>
        at.test.database.raw(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
      expect(await eventually(waiting, (pids) => pids.length > 0)).toHaveLength(1);
    });
    await isClosed;
    await at.world.work({ leaseMs });
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(times(offer.messages[0]?.id)).toBe(1);
  });

  it('a close waits for what is under way', async () => {
    at.receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 300);
    await hand(2);
    await at.world.deliveries.close();
    expect(await works()).toEqual([]);
    expect(await statuses()).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });
});
