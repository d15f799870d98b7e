import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { wholeProject } from '../events/index.ts';
import { firstIdAt, newId } from '../kit/ids.ts';
import { readBacklog } from '../operations/store/backlog.ts';
import {
  eventually,
  good,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import { cutMessages, keepMessages } from './index.ts';
import { waitAfter } from './next-attempt.ts';
import type { DestinationRow } from './store/destinations.ts';

describe('deliveries', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let destination: DestinationRow;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    receiver = await startReceiver();
    destination = await create('mine', receiver.url);
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
  });

  const create = (name: string, url: string): Promise<DestinationRow> =>
    world.deliveries.destinations.create(world.projectId, { name, type: 'webhook', metadata: { url } });
  const deliveries = () =>
    world.rows('SELECT * FROM delivery WHERE project_id = $1 ORDER BY message_id', [world.projectId]);
  const work = () => world.rows('SELECT * FROM work WHERE project_id = $1', [world.projectId]);
  const stored = async (id = destination.id) =>
    (await world.rows('SELECT * FROM destination WHERE id = $1', [id]))[0]!;
  const settled = (count: number) =>
    eventually(deliveries, (rows) => rows.filter(({ status }) => status !== 'pending').length >= count);
  const answerWith = (status: number, headers: Record<string, string> = {}, body = '') => {
    receiver.answer = (response) => response.writeHead(status, headers).end(body);
  };

  it('each message arrives once, is told as delivered with its attempt, and leaves no work', async () => {
    answerWith(200, {}, 'thanks');
    await world.work();
    const ids = await world.queue(destination.id, 20);
    const rows = await settled(20);
    expect(receiver.ids().toSorted()).toEqual(ids.toSorted());
    for (const row of rows) {
      expect(row).toMatchObject({
        status: 'delivered',
        ended: 'delivered',
        attempts: 1,
        http_status: 200,
        error: null,
      });
      expect(row['log']).toEqual([
        {
          time: expect.any(String) as string,
          status: 200,
          latencyMs: expect.any(Number) as number,
          answer: 'thanks',
        },
      ]);
    }
    expect(await work()).toEqual([]);
    expect((await stored())['failing_since']).toBeNull();
    expect(await world.ground.metrics.registry.metrics()).toContain(
      'svc_deliveries_total{status="delivered"} 20',
    );
  });

  it('a failed attempt is told and comes back after five seconds; a success ends it and the failing', async () => {
    answerWith(500, {}, 'no');
    await world.work();
    const [id] = await world.queue(destination.id, 1);
    const [failed] = await eventually(deliveries, (rows) => rows.length > 0);
    expect(failed).toMatchObject({
      message_id: id,
      status: 'pending',
      attempts: 1,
      http_status: 500,
      ended: null,
    });
    const waits = Number(new Date(String(failed!['next_at']))) - Number(new Date(String(failed!['last_at'])));
    expect(waits).toBeGreaterThanOrEqual(4_000);
    expect(waits).toBeLessThanOrEqual(6_000);
    expect((await work())[0]).toMatchObject({ state: 0, attempt: 1, lease: null });
    expect((await stored())['failing_since']).not.toBeNull();
    receiver.answer = good;
    await world.hurry();
    const [done] = await settled(1);
    expect(done).toMatchObject({
      status: 'delivered',
      attempts: 2,
      http_status: 204,
      error: null,
      next_at: null,
    });
    expect(done!['log']).toMatchObject([{ status: 500, answer: 'no' }, { status: 204 }]);
    expect((await stored())['failing_since']).toBeNull();
    expect(new Set(receiver.ids())).toEqual(new Set([id]));
  });

  it('waits as long as the schedule says, spread by a fifth, and ten attempts are all', () => {
    const hours = [5 / 3600, 1 / 12, 0.5, 2, 5, 10, 14, 20, 24].map((each) => each * 3_600_000);
    expect(hours.map((_, at) => waitAfter(at + 1, () => 0.5))).toEqual(hours);
    expect(hours.map((_, at) => waitAfter(at + 1, () => 0))).toEqual(
      hours.map((each) => Math.round(each * 0.8)),
    );
    expect(waitAfter(9, () => 1)).toBe(24 * 3_600_000 * 1.2);
    expect(waitAfter(10)).toBeUndefined();
  });

  it('after the tenth attempt it is a dead letter, which can be sent again by hand', async () => {
    answerWith(500);
    const [id] = await world.queue(destination.id, 1);
    await world.rows('UPDATE work SET attempt = 9 WHERE project_id = $1', [world.projectId]);
    await world.work();
    const [dead] = await settled(1);
    expect(dead).toMatchObject({ status: 'failed', ended: 'failed', next_at: null });
    expect(await work()).toEqual([]);
    receiver.answer = good;
    const reach = wholeProject(world.projectId);
    expect(await world.deliveries.log.retry(reach, id!)).toMatchObject({ id, status: 'pending' });
    const [done] = await settled(1);
    expect(done).toMatchObject({ status: 'delivered', ended: 'delivered', attempts: 2 });
    expect(receiver.received.map(({ headers }) => headers['x-svc-replay'])).toEqual([undefined, undefined]);
    await world.deliveries.log.retry(reach, id!);
    await eventually(
      () => receiver.received.length,
      (count) => count === 3,
    );
    expect(receiver.received[2]!.headers).toMatchObject({ 'x-svc-replay': 'true', 'webhook-id': id });
    expect(receiver.received[2]!.body).toBe(receiver.received[0]!.body);
  });

  it('the records are counted at their operation where they end last', async () => {
    const operationId = newId();
    await world.rows(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      VALUES ($1, $2, $2, $2, $2, 'read', '{}', 'contacts', 'success', 6)`,
      [world.projectId, operationId],
    );
    const counts = () => world.countsOf(operationId);
    receiver.answer = (response, { body }) => {
      response.writeHead(body.includes('"n2"') ? 500 : 204).end();
    };
    const kept = await world.messages(destination.id, 3, { operationId, records: 2 });
    await keepMessages(test.database, kept);
    await world.rows('UPDATE work SET attempt = 9 WHERE project_id = $1', [world.projectId]);
    await world.work();
    await settled(3);
    expect(await counts()).toEqual({ succeeded: 4, failed: 2 });
    receiver.answer = good;
    const [dead] = await world.rows(
      `SELECT message_id FROM delivery WHERE project_id = $1 AND status = 'failed'`,
      [world.projectId],
    );
    await world.deliveries.log.retry(wholeProject(world.projectId), String(dead!['message_id']));
    await settled(3);
    expect(await counts()).toEqual({ succeeded: 6, failed: 0 });
    await world.deliveries.log.retry(wholeProject(world.projectId), String(dead!['message_id']));
    await eventually(
      () => receiver.received.length,
      (count) => count === 5,
    );
    await settled(3);
    expect(await counts()).toEqual({ succeeded: 6, failed: 0 });
  });

  it('410 disables the destination and tells; what comes waits, and goes on when it is enabled', async () => {
    answerWith(410);
    await world.work();
    const [first] = await world.queue(destination.id, 1);
    const off = await eventually(stored, ({ status }) => status === 'disabled');
    expect(off).toMatchObject({ status: 'disabled', reason: expect.stringContaining('410') as string });
    const [event] = await world.rows(`SELECT * FROM event WHERE project_id = $1`, [world.projectId]);
    expect(event).toMatchObject({
      type: 'destination.webhook.disabled',
      group_ref: null,
      data: { destinationId: destination.id, destinationName: 'mine', url: receiver.url },
    });
    const [second] = await world.queue(destination.id, 1);
    await world.hurry();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(receiver.ids()).toEqual([first]);
    receiver.answer = good;
    // Nothing succeeded by that: since when it fails stays true until something does.
    expect(await world.deliveries.destinations.enable(world.projectId, 'mine')).toMatchObject({
      status: 'active',
      reason: null,
      failing_since: off['failing_since'],
    });
    const rows = await settled(2);
    expect(await stored()).toMatchObject({ failing_since: null });
    expect(rows.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(receiver.ids().slice(1).toSorted()).toEqual([first!, second!].toSorted());
  });

  it('Retry-After of a busy receiver holds the whole destination', async () => {
    answerWith(429, { 'retry-after': '3600' });
    await world.work();
    await world.queue(destination.id, 1);
    await eventually(deliveries, (rows) => rows.length === 1);
    await eventually(
      () => world.rows('SELECT 1 FROM lane WHERE id = $1 AND lease IS NULL', [destination.id]),
      (rows) => rows.length > 0,
    );
    await world.queue(destination.id, 5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(receiver.received).toHaveLength(1);
    const [row] = await deliveries();
    expect(Number(new Date(String(row!['next_at']))) - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('a receiver that hangs does not slow another, and what hangs is not lost', async () => {
    const other = await startReceiver();
    receiver.answer = () => undefined;
    await world.work();
    await world.queue(destination.id, 100);
    await eventually(
      () => receiver.received.length,
      (count) => count > 0,
    );
    const quick = await create('quick', other.url);
    const startedAt = performance.now();
    await world.queue(quick.id, 50);
    await eventually(
      () => other.received.length,
      (count) => count === 50,
    );
    expect(other.received).toHaveLength(50);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(receiver.received.length).toBeLessThan(30);
    await other.close();
    expect(await work()).not.toEqual([]);
  });

  it('what waits is in the gauges, with its age', async () => {
    await world.rows(`DELETE FROM work WHERE kind = 'delivery'`);
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    const hourAgo = firstIdAt(new Date(Date.now() - 3_600_000).toISOString()).slice(0, 13);
    await world.queue(destination.id, 1, { id: `${hourAgo}${newId().slice(13)}` });
    await world.queue(destination.id, 2);
    const row = (await readBacklog(test.database, 'provider')).find(({ kind }) => kind === 'delivery');
    expect(row?.waiting).toBeGreaterThanOrEqual(3);
    expect(row?.oldestSeconds).toBeGreaterThan(3_590);
    expect(row?.oldestSeconds).toBeLessThan(3_660);
  });

  it('deletion cancels what waits and says how much', async () => {
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    const ids = await world.queue(destination.id, 3);
    await world.work();
    await world.deliveries.destinations.delete(world.projectId, destination.id, { cancelPending: true });
    const rows = await settled(3);
    expect(rows.map(({ status, message_id }) => [message_id, status])).toEqual(
      ids.toSorted().map((id) => [id, 'canceled']),
    );
    expect(await work()).toEqual([]);
    expect(receiver.received).toEqual([]);
    const [entry] = await world.rows(
      `SELECT details FROM audit_log WHERE project_id = $1 AND action = 'destination.deleted'`,
      [world.projectId],
    );
    expect(entry!['details']).toMatchObject({ name: 'mine', canceledDeliveries: 3 });
  });

  it('a delivery whose message is no longer kept leaves nothing behind', async () => {
    await world.queue(destination.id, 1);
    await world.rows('DELETE FROM message WHERE project_id = $1', [world.projectId]);
    await world.work();
    expect(await eventually(work, (rows) => rows.length === 0)).toEqual([]);
    expect([await deliveries(), receiver.received]).toEqual([[], []]);
  });

  it('what was started on a node that is gone is sent again under the same id', async () => {
    const [id] = await world.queue(destination.id, 1);
    await world.rows(
      `UPDATE work SET state = 1, attempt = 1, lease = gen_random_uuid() WHERE project_id = $1`,
      [world.projectId],
    );
    await world.work();
    const [done] = await settled(1);
    expect(done).toMatchObject({ message_id: id, status: 'delivered' });
    expect(receiver.ids()).toEqual([id]);
  });

  /** A message that links to its record, delivered; `ask` follows its link. */
  const deliverLarge = async () => {
    const [small] = await world.messages(destination.id, 1);
    const { projectId, installationId } = small!;
    const json = JSON.stringify({ raw: { text: 'x'.repeat(400_000) } });
    const [large] = await cutMessages(
      { action: 'read', projectId } as never,
      [{ json, key: { id: '1', version: '', deleted: false } }],
      {
        projectId,
        installationId,
        operationId: null,
        groupRef: 'acme',
        object: 'people',
        destinationId: destination.id,
        page: 1,
        publicUrl: 'http://svc.test',
      },
    );
    await keepMessages(test.database, [large!]);
    await world.work();
    await settled(1);
    const { resultInfo } = JSON.parse(receiver.received[0]!.body) as { resultInfo: { downloadUrl: string } };
    const link = new URL(resultInfo.downloadUrl);
    const secret = link.searchParams.get('secret')!;
    const ask = (over: object = {}) =>
      world.deliveries.log.resultOf({ projectId, id: large!.id, secret, ...over });
    return { id: large!.id, json, ask };
  };
  const endedAgo = (minutes: number, id: string) =>
    world.rows(
      `UPDATE delivery SET status = 'delivered', last_at = svc_now() - $2 * interval '1 minute' WHERE message_id = $1`,
      [id, minutes],
    );

  it('the link of a large record is good while its delivery goes on, and 15 minutes after', async () => {
    const [small] = await world.messages(destination.id, 1);
    const { id, json, ask } = await deliverLarge();
    expect((await ask()).toString()).toBe(`[${json}]`);
    for (const wrong of [
      { secret: 'x' },
      { id: newId() },
      { projectId: newId() },
      { id: 'x' },
      { id: small!.id },
    ])
      await expect(ask(wrong)).rejects.toMatchObject({ code: 'not-found' });
    await endedAgo(14, id);
    expect((await ask()).length).toBe(json.length + 2);
    await endedAgo(16, id);
    await expect(ask()).rejects.toMatchObject({ code: 'not-found' });
    await world.rows(`UPDATE delivery SET status = 'pending' WHERE message_id = $1`, [id]);
    expect((await ask()).length).toBe(json.length + 2);
  });

  it('the link of a large record is good where a replay sends it elsewhere, however long ago it was delivered', async () => {
    const { id, json, ask } = await deliverLarge();
    await endedAgo(24 * 60, id);
    await expect(ask()).rejects.toMatchObject({ code: 'not-found' });
    const elsewhere = await startReceiver();
    const other = await create('other', elsewhere.url);
    await world.deliveries.replays.start(world.projectId, {
      filter: { destination: destination.id },
      destination: other.id,
    });
    const replayed = await eventually(
      () => elsewhere.ids(),
      (ids) => ids.length === 1,
    );
    expect(replayed).toEqual([id]);
    expect((await ask()).length).toBe(json.length + 2);
    await settled(2);
    expect((await ask()).length).toBe(json.length + 2);
    await endedAgo(16, id);
    await expect(ask()).rejects.toMatchObject({ code: 'not-found' });
    await elsewhere.close();
  });
});
